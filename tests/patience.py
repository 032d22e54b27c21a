"""How long a test waits for what comes at once, on a machine that is busy with other things."""

PATIENCE_S = 60  # a bound, not a wait: only what never comes takes so long
