"""Charts, defined once: functions from rows to Vega-Lite, for the browser, SVG, PNG and reports alike."""
