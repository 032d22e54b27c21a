"""Every route for people."""

from api.web.ask import ask_page
from api.web.assets import asset
from api.web.cases import case_page, cases_page, save_case
from api.web.compare_page import compare_runs_page
from api.web.health import health_page
from api.web.library import compare_page, document_page, imports_part, library_page
from api.web.open_run import open_page, open_run
from api.web.prompts import bundle_page, compare_prompts_page, prompts_page
from api.web.run_page import import_trace_page, run_page
from api.web.samples import import_samples
from api.web.settings import settings_page
from api.web.sign_in import sign_in, sign_in_page, sign_out
from api.web.traces import traces_page

web = (
    ask_page,
    library_page,
    imports_part,
    document_page,
    compare_page,
    traces_page,
    run_page,
    compare_runs_page,
    open_page,
    open_run,
    cases_page,
    case_page,
    save_case,
    import_trace_page,
    health_page,
    prompts_page,
    compare_prompts_page,
    bundle_page,
    settings_page,
    import_samples,
    sign_in_page,
    sign_in,
    sign_out,
    asset,
)
