"""Every route for people."""

from api.web.ask import ask_page
from api.web.assets import asset
from api.web.sign_in import sign_in, sign_in_page, sign_out

web = (ask_page, sign_in_page, sign_in, sign_out, asset)
