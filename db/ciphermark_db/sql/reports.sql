-- name: ranking
select
    r.scheme,
    c.ring_dimension as asked_ring_dimension,
    c.modulus_bits as asked_modulus_bits,
    c.depth,
    r.ring_dimension,
    s.modulus_bits,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    r.fastest_ring_dimension,
    r.fastest_log_qp,
    r.fastest_security_2018,
    r.experiment,
    r.operation,
    r.repetitions,
    r.size,
    s.ciphertexts,
    r.data_pattern,
    r.data_set,
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
    r.is_paired,
    h.ratio as hexl_ratio,
    h.ci_low as hexl_low,
    h.ci_high as hexl_high,
    h.verdict as hexl_verdict
from ratios(%(any_security)s) as r
join case_ as c on c.key = r.case_key
join results as s
    on s.run_id = r.run_id
    and s.case_key = r.case_key
    and s.phase = r.phase
    and s.repetitions is not distinct from r.repetitions
    and s.metric = 'time'
left join speedup as h
    on h.run_id = r.run_id
    and h.comparison_key = r.comparison_key
    and h.variant_on = r.variant
    and h.phase = r.phase
    and h.repetitions is not distinct from r.repetitions
where
    r.run_id = %(run_id)s and s.run_id = %(run_id)s and r.phase = %(phase)s
    and r.experiment <> 'repetition'
order by
    r.scheme,
    c.ring_dimension,
    c.modulus_bits nulls first,
    c.depth nulls first,
    case when %(any_security)s then null else r.security_2018 end desc,
    r.size,
    r.data_pattern,
    r.data_set nulls first,
    r.threads,
    r.experiment,
    r.operation,
    r.repetitions nulls first,
    r.comparison_key,
    r.rank;

-- name: chains
select
    f.*,
    r.fastest_variant,
    r.ratio,
    r.ci_low as ratio_low,
    r.ci_high as ratio_high,
    coalesce(r.is_paired, false) as is_paired
from (
    select
        run_id,
        scheme,
        operation,
        repetitions,
        data_pattern,
        size,
        ciphertexts,
        threads,
        variant,
        ring_dimension,
        modulus_bits,
        log_qp,
        security_2018,
        security_2024,
        is_least,
        status,
        comparison_key,
        case_key,
        max(n) filter (where metric = 'time') as n,
        max(median) filter (where metric = 'time') as median,
        max(ci_low) filter (where metric = 'time') as ci_low,
        max(ci_high) filter (where metric = 'time') as ci_high,
        max(max) filter (where metric = 'peak_memory') as peak_bytes,
        max(median) filter (where metric in ('noise_budget', 'precision')) as bits_left
    from results
    where
        run_id = %(run_id)s and experiment = 'repetition' and security_2018 is not null
        and (phase = 'operation' or phase is null)
    group by
        run_id, scheme, operation, repetitions, data_pattern, size, ciphertexts, threads, variant, ring_dimension,
        modulus_bits, log_qp, security_2018, security_2024, is_least, status, comparison_key, case_key
) as f
left join (select * from ratios(%(any_security)s) where run_id = %(run_id)s and phase = 'operation') as r
    on r.case_key = f.case_key and f.status = 'ok'
order by
    f.scheme,
    f.operation,
    case when %(any_security)s then null else f.security_2018 end desc,
    f.data_pattern,
    f.ciphertexts,
    f.threads,
    f.repetitions,
    f.is_least desc,
    f.median nulls last,
    f.variant;

-- name: depths
select
    scheme,
    ring_dimension,
    modulus_bits,
    security_2018,
    security_2024,
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
group by
    scheme, ring_dimension, modulus_bits, security_2018, security_2024, experiment, operation, variant, data_pattern, size
order by experiment, scheme, ring_dimension, operation, data_pattern, variant;

-- name: run_figures
select
    variant,
    scheme,
    ring_dimension,
    experiment,
    operation,
    phase,
    size,
    data_pattern,
    data_set,
    threads,
    repetitions,
    metric,
    unit,
    n,
    median,
    ci_low as low,
    ci_high as high,
    status,
    error,
    log_qp,
    security_2018,
    security_2024,
    case_key,
    comparison_key
from results
where run_id = %(run_id)s;

-- name: run
select r.id, r.suite, r.started_at, h.hostname, h.cpu_model, h.fingerprint
from run as r
join host as h on h.id = r.host_id
where r.id = %(run_id)s;

-- name: published
select
    p.source,
    p.year,
    p.system,
    p.host as published_host,
    p.scheme,
    p.figure,
    p.metric,
    p.unit,
    p.value as published_value,
    p.stated,
    p.note,
    m.run_id,
    m.host,
    m.variant,
    m.operation,
    m.ring_dimension,
    m.is_least,
    m.log_qp,
    m.security_2018,
    m.security_2024,
    m.size,
    m.n,
    m.median,
    m.ci_low,
    m.ci_high
from published as p
left join (select * from published_match where run_id = %(run_id)s) as m on m.published_id = p.id
order by p.id, m.operation, m.ring_dimension, m.is_least, m.median;

-- name: learning
select
    operation,
    data_set,
    threads,
    scheme,
    variant,
    ring_dimension,
    modulus_bits,
    log_qp,
    security_2018,
    security_2024,
    case_key,
    max(median) filter (where metric = 'time' and phase = 'prepare') as prepare_s,
    max(median) filter (where metric = 'time' and phase = 'train') as train_s,
    max(median) filter (where metric = 'time' and phase = 'infer') as infer_s,
    max(median) filter (where metric = 'accuracy') as accuracy,
    max(median) filter (where metric = 'mse') as mse,
    max(median) filter (where metric = 'agreement') as agreement,
    max(median) filter (where metric = 'noise_error') as noise_error,
    max(median) filter (where metric = 'rounding_error') as rounding_error,
    sum(median) filter (where metric = 'size' and phase in ('train', 'infer'))
    / sum(median) filter (where metric = 'plaintext_size') as expansion,
    sum(median) filter (where metric = 'size' and phase in ('train', 'infer')) as sent_bytes
from results
where run_id = %(run_id)s and experiment = 'learning' and status = 'ok'
group by
    operation, data_set, threads, scheme, variant, ring_dimension, modulus_bits, log_qp, security_2018, security_2024,
    case_key
order by
    operation, data_set, threads, scheme, case when not %(any_security)s then security_2018 end desc nulls last, infer_s,
    variant;

-- name: learning_stages
select
    case_key,
    stage,
    variant,
    max(median) filter (where metric = 'time' and part = '') as time_s,
    sum(median) filter (where metric = 'time' and part in ('serialize', 'deserialize')) as serialization_s,
    max(median) filter (where metric = 'time' and part = 'transfer') as transfer_s,
    max(median) filter (where metric = 'cpu_time' and part = 'client')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as client_cpu,
    max(median) filter (where metric = 'cpu_time' and part = 'server')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as server_cpu,
    max(median) filter (where metric = 'peak_memory' and part = 'client') as client_peak_bytes,
    max(median) filter (where metric = 'peak_memory' and part = 'server') as server_peak_bytes
from (
    select
        case_key,
        variant,
        metric,
        median,
        split_part(phase, '.', 1) as stage,
        split_part(phase, '.', 2) as part
    from results
    where run_id = %(run_id)s and experiment = 'learning' and status = 'ok'
) as found
group by case_key, stage, variant
order by array_position(array['prepare', 'train', 'infer'], stage);
