select
    variant,
    hexl,
    comparison_group,
    encryption,
    phase,
    metric,
    unit,
    repetitions,
    n,
    median,
    ci_low,
    ci_high,
    uncorrected_median,
    uncorrected_ci_low,
    uncorrected_ci_high,
    mad,
    min,
    max,
    undisturbed_share,
    slowdown
from results
where run_id = %(run_id)s and comparison_group = %(comparison_group)s and metric is not null
order by metric <> 'time', metric, phase, repetitions, median, variant;
