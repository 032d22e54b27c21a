"""What a pinned snapshot holds, read under a caller's access. Nothing here writes.

Every query of documents, sections and blocks joins the snapshot's membership and applies `Within` in SQL, before anything else is
looked at: a document outside it does not exist. Rows become Structs in these modules.
"""

from shared.catalog.block_reads import BlockReads
from shared.catalog.scan_reads import ScanReads
from shared.catalog.snapshot_reads import SnapshotReads
from shared.catalog.within import Within as Within


class CatalogReader(SnapshotReads, BlockReads, ScanReads):
    """A read-only connection; one call at a time.

    Raises: StorageError from every method; CollectionUnavailable when a block's text is not what was published.
    """
