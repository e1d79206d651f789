-- name: ranking
select
    r.scheme,
    r.ring_dimension,
    s.modulus_bits,
    s.log_qp,
    s.security_2018,
    s.security_2024,
    r.experiment,
    r.operation,
    r.size,
    s.ciphertexts,
    r.data_pattern,
    r.threads,
    r.rank,
    r.variant,
    s.n,
    s.median,
    s.ci_low,
    s.ci_high,
    r.ratio,
    r.ci_low as ratio_low,
    r.ci_high as ratio_high,
    r.verdict,
    r.is_equal_security and r.is_equal_parameters as is_equal,
    h.ratio as hexl_ratio,
    h.ci_low as hexl_low,
    h.ci_high as hexl_high,
    h.verdict as hexl_verdict
from ratio as r
join results as s
    on s.run_id = r.run_id
    and s.comparison_key = r.comparison_key
    and s.variant = r.variant
    and s.phase = r.phase
    and s.metric = 'time'
left join speedup as h
    on h.run_id = r.run_id
    and h.comparison_key = r.comparison_key
    and h.variant_on = r.variant
    and h.phase = r.phase
where r.run_id = %(run_id)s and s.run_id = %(run_id)s and r.phase = %(phase)s
order by
    r.scheme, r.ring_dimension, s.log_qp, s.modulus_bits, r.size, r.data_pattern, r.threads, r.experiment, r.operation,
    r.rank;

-- name: depths
select
    scheme,
    ring_dimension,
    modulus_bits,
    experiment,
    operation,
    data_pattern,
    variant,
    coalesce(max(median) filter (where metric = 'depth'), max(repetitions)) as operations,
    coalesce(bool_or(metric = 'is_capped' and median = 1), false) as is_capped,
    max(median) filter (where repetitions = 0) as fresh_bits,
    (array_agg(median order by repetitions desc) filter (where repetitions is not null))[1] as last_bits
from results
where run_id = %(run_id)s and experiment in ('depth', 'noise') and phase = 'operation' and metric <> 'peak_memory'
group by scheme, ring_dimension, modulus_bits, experiment, operation, variant, data_pattern, size
order by experiment, scheme, ring_dimension, operation, data_pattern, variant;

-- name: two_runs
select
    coalesce(a.variant, b.variant) as variant,
    coalesce(a.scheme, b.scheme) as scheme,
    coalesce(a.ring_dimension, b.ring_dimension) as ring_dimension,
    coalesce(a.experiment, b.experiment) as experiment,
    coalesce(a.operation, b.operation) as operation,
    coalesce(a.phase, b.phase) as phase,
    coalesce(a.size, b.size) as size,
    coalesce(a.data_pattern, b.data_pattern) as data_pattern,
    coalesce(a.repetitions, b.repetitions) as repetitions,
    coalesce(a.metric, b.metric) as metric,
    coalesce(a.unit, b.unit) as unit,
    a.n as a_n,
    a.median as a_median,
    a.ci_low as a_low,
    a.ci_high as a_high,
    a.status as a_status,
    a.security_2018 as a_security,
    a.log_qp as a_log_qp,
    b.n as b_n,
    b.median as b_median,
    b.ci_low as b_low,
    b.ci_high as b_high,
    b.status as b_status,
    b.security_2018 as b_security,
    b.log_qp as b_log_qp
from (select * from results where run_id = %(run_a)s) as a
full join (select * from results where run_id = %(run_b)s) as b
    on b.case_key = a.case_key
    and b.phase is not distinct from a.phase
    and b.metric is not distinct from a.metric
    and b.repetitions is not distinct from a.repetitions
order by 2, 3, 4, 5, 6, 1, 7, 8, 9;
