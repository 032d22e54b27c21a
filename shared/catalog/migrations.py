"""The catalog's schema, as forward migrations. Never edit one that has been released; add the next."""

from sqlite_utils import Database

from shared.catalog.upgrade import upgrade

_MIGRATIONS: tuple[str, ...] = (
    """
    create table sources (
        source_id text primary key,
        kind text not null,
        root text not null,
        label text not null unique collate nocase,
        aliases text not null,               -- JSON array
        trust text not null,
        access text not null,                -- JSON array
        lang_hint text,
        tags text not null,                  -- JSON array
        created_at_ms integer not null,
        unique (kind, root)
    );
    create table documents (
        doc_id text primary key,
        source_id text not null references sources,
        key text not null,
        created_at_ms integer not null,
        unique (source_id, key)
    );
    create table parsed (                    -- checkpoint of the parse stage
        original_sha256 text not null,
        name text not null,                  -- file name: parsers look at it
        lineage text not null,
        artifact_sha256 text not null,       -- content-addressed file with the elements
        primary key (original_sha256, name, lineage)
    );
    create table document_versions (
        doc_id text not null references documents,
        version integer not null,
        title text not null,
        lang text not null,
        media_type text not null,
        size_bytes integer not null,
        original_sha256 text not null,
        lineage text not null,
        artifact_sha256 text not null,
        pages integer,
        sections integer not null,
        blocks integer not null,
        tokens integer not null,
        created_at_ms integer not null,
        primary key (doc_id, version)
    );
    create index document_versions_original on document_versions (doc_id, original_sha256, lineage);
    create table sections (
        doc_id text not null,
        version integer not null,
        ordinal integer not null,
        parent integer,
        path text not null,
        title text not null,
        depth integer not null,
        first_sentence text not null,
        own_blocks integer not null,
        own_tokens integer not null,
        subtree_blocks integer not null,
        subtree_tokens integer not null,
        primary key (doc_id, version, ordinal),
        unique (doc_id, version, path),
        foreign key (doc_id, version) references document_versions on delete cascade
    ) without rowid;
    create table blocks (
        id integer primary key,
        block_id text not null unique,
        doc_id text not null,
        version integer not null,
        block_index integer not null,
        section_ordinal integer not null,
        text text not null,
        folded text not null,                -- shared.text.fold of text, for the exact scan
        table_header text not null,
        page_first integer,
        page_last integer,
        span_start integer not null,
        span_end integer not null,
        tokens integer not null,
        sha256 text not null,
        flags text not null,                 -- JSON array
        unique (doc_id, version, block_index),
        foreign key (doc_id, version) references document_versions on delete cascade
    );
    create table imports (
        import_id text primary key,
        state text not null,
        mode text not null,
        stage text,
        request text not null,               -- JSON of ImportRequest
        base_snapshot_id text,
        snapshot_id text,
        lease_holder text,
        lease_until_ms integer not null default 0,
        attempts integer not null default 0, -- times a worker took the lease: a message that kills its worker is redelivered for ever
        pause_reason text,
        failure_code text,
        failure_reason text,
        provider_tokens integer not null default 0,
        blocks_embedded integer not null default 0,
        running_ms integer not null default 0,
        created_at_ms integer not null,
        updated_at_ms integer not null,
        finished_at_ms integer
    );
    create index imports_state on imports (state);
    create table import_items (
        import_id text not null references imports on delete cascade,
        ordinal integer not null,
        source_id text not null,
        key text not null,
        state text not null,
        original_sha256 text,
        size_bytes integer not null,
        doc_id text,
        version integer,
        blocks integer not null default 0,
        tokens integer not null default 0,
        attempts integer not null default 0,
        failed_stage text,
        failure_code text,
        failure_reason text,
        retryable integer not null default 0,
        primary key (import_id, ordinal),
        unique (import_id, source_id, key)
    ) without rowid;
    create table snapshots (
        snapshot_id text primary key,
        state text not null,
        import_id text not null,
        base_snapshot_id text,
        created_at_ms integer not null,
        published_at_ms integer,
        documents integer not null default 0,
        blocks integer not null default 0,
        embedding_version text not null,
        dimensions integer not null,
        keyword_version text not null,
        manifest text,                       -- canonical JSON of SnapshotManifest
        manifest_sha256 text,
        failure text,
        pinned integer not null default 0
    );
    create table snapshot_documents (
        snapshot_id text not null references snapshots on delete cascade,
        doc_id text not null,
        version integer not null,
        title text not null,
        source_id text not null,
        source_label text not null,
        key text not null,
        aliases text not null,
        lang text not null,
        trust text not null,
        access text not null,
        tags text not null,
        media_type text not null,
        updated_at_ms integer not null,
        sections integer not null,
        blocks integer not null,
        tokens integer not null,
        artifact_sha256 text not null,
        primary key (snapshot_id, doc_id),
        foreign key (doc_id, version) references document_versions
    ) without rowid;
    create index snapshot_documents_version on snapshot_documents (doc_id, version);
    create table snapshot_failures (
        snapshot_id text not null references snapshots on delete cascade,
        ordinal integer not null,
        source_label text not null,
        key text not null,
        stage text not null,
        code text not null,
        reason text not null,
        attempts integer not null,
        retryable integer not null,
        primary key (snapshot_id, ordinal)
    ) without rowid;
    create table active_snapshot (
        id integer primary key check (id = 1),
        snapshot_id text not null references snapshots,
        generation integer not null
    );
    create table active_history (
        generation integer primary key,
        snapshot_id text not null,
        previous_id text,
        at_ms integer not null,
        cause text not null                  -- "import imp_…" or "activate"
    );
    """,
    """
    -- counts on after versions are removed: a block id is never given twice
    alter table documents add column last_version integer not null default 0;
    -- the last heartbeat; running_ms counts up to here
    alter table imports add column beat_at_ms integer not null default 0;
    -- the last message that a reconciler sent
    alter table imports add column woken_at_ms integer not null default 0;
    -- paused for a fault: goes on by itself at this time
    alter table imports add column wake_at_ms integer;
    -- pauses for a fault in a row, without progress between them
    alter table imports add column faults integer not null default 0;
    """,
    """
    -- sound, damaged (its rows are not what was imported: nothing is built on it any more) or leaving (being removed)
    alter table document_versions add column state text not null default 'sound';
    create index document_versions_not_sound on document_versions (state) where state <> 'sound';
    create index document_versions_by_original on document_versions (original_sha256);
    -- kept for an evaluation, as pinned is for a person
    alter table snapshots add column frozen integer not null default 0;
    create table snapshot_leases (           -- which processes have a snapshot open
        snapshot_id text not null references snapshots on delete cascade,
        holder text not null,
        beat integer not null default 0,     -- counts up for as long as the holder lives
        primary key (snapshot_id, holder)
    ) without rowid;
    create table removed_snapshots (
        snapshot_id text primary key,
        created_at_ms integer not null,
        published_at_ms integer,             -- null: it never answered
        documents integer not null,
        blocks integer not null,
        embedding_version text not null,
        removed_at_ms integer not null,
        cause text not null,                 -- "retention" or "delete"
        swept integer not null default 0     -- 1: its collection was dropped once more, a day later
    ) without rowid;
    create table removed_versions (          -- no snapshot holds them any more
        doc_id text not null,
        version integer not null,
        access text not null,                -- JSON array: the labels in the last snapshot that held it
        removed_at_ms integer not null,
        primary key (doc_id, version)
    ) without rowid;
    create table released_vectors (          -- of blocks that were removed: to be removed as well, unless others have the same text
        sha256 text primary key,             -- key in the embedding cache
        text_sha256 text not null            -- of the block's own text
    ) without rowid;
    create table sweeps (                    -- of what no row speaks of; the same number stands beside the catalog
        id integer primary key check (id = 1),
        number integer not null,
        since_ms integer not null            -- when catalog and folder were first seen to belong together
    );
    """,
    """
    create table api_keys (
        key_id text primary key,
        name text not null,
        secret_sha256 text not null,         -- of the whole secret, see shared/keys.py
        permission text not null,
        roles text not null,                 -- JSON array of access labels
        limits text not null,                -- JSON of KeyLimits
        requests_per_minute integer,
        created_at_ms integer not null,
        expires_at_ms integer,
        last_used_at_ms integer,
        revoked_at_ms integer
    ) without rowid;
    create unique index api_keys_name on api_keys (name) where revoked_at_ms is null;
    """,
    """
    -- three characters in a row -> ids of the blocks that have them, see shared/text/grams.py; kept by the triggers, whoever writes
    create view scan_texts as select id, marked(folded) as text from blocks;
    create virtual table scan_index using fts5 (
        text, content = 'scan_texts', content_rowid = 'id', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
    );
    create virtual table scan_grams using fts5vocab (scan_index, 'row');
    create trigger scan_index_block_comes after insert on blocks begin
        insert into scan_index (rowid, text) values (new.id, marked(new.folded)); end;
    create trigger scan_index_block_goes after delete on blocks begin
        insert into scan_index (scan_index, rowid, text) values ('delete', old.id, marked(old.folded)); end;
    insert into scan_index (scan_index) values ('rebuild');
    """,
    """
    create table conversations (
        conversation_id text primary key,
        asker text,                          -- key_id; null: the owner
        title text not null,                 -- the first question, cut
        entities text not null,              -- JSON array: things named so far, the latest last
        created_at_ms integer not null,
        updated_at_ms integer not null
    ) without rowid;
    create index conversations_updated on conversations (updated_at_ms);
    create table conversation_turns (
        conversation_id text not null references conversations on delete cascade,
        ordinal integer not null,
        run_id text not null,
        question text not null,
        answer text not null,
        status text not null,
        access text not null,                -- JSON array of the labels its run could see; null: everything
        at_ms integer not null,
        primary key (conversation_id, ordinal)
    ) without rowid;
    """,
    """
    -- JSON array: the labels that are known last for a document, see labels.py; null: it was never published
    alter table documents add column access text;
    update documents set access = (
        select m.access from snapshot_documents m join snapshots s using (snapshot_id)
        where m.doc_id = documents.doc_id and s.published_at_ms is not null
        order by s.published_at_ms desc, s.snapshot_id desc limit 1);
    -- when no snapshot holds it any more nobody knows which of its versions was published last: one that was closed, if there was one
    update documents set access = (
        select r.access from removed_versions r where r.doc_id = documents.doc_id
        order by r.access = '[]', r.version desc limit 1) where access is null;
    create table versions_removed (          -- no snapshot holds them any more
        doc_id text not null,
        version integer not null,
        removed_at_ms integer not null,
        primary key (doc_id, version)
    ) without rowid;
    insert into versions_removed select doc_id, version, removed_at_ms from removed_versions;
    drop table removed_versions;
    alter table versions_removed rename to removed_versions;
    """,
)


def migrate(db: Database) -> int:
    """Bring the catalog's schema up to date. Raises: StorageError. See upgrade.py."""
    return upgrade(db, _MIGRATIONS)
