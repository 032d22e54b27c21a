"""The release bundle, as tests of its users want it."""

from pathlib import Path

from api.agent.prompting import BundleWording
from shared.prompts import load_bundle

PROMPTS = Path(__file__).resolve().parents[3] / "prompts"
BUNDLE = load_bundle(PROMPTS, "default/1")
ZH, EN = BundleWording(BUNDLE, "zh"), BundleWording(BUNDLE, "en")
WORDINGS = (ZH, EN)
