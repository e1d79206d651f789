-- name: learning
select *
from (
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
        max(median) filter (where metric = 'time' and phase = 'prepare') as prepare_s,
        max(median) filter (where metric = 'time' and phase = 'train') as train_s,
        max(median) filter (where metric = 'time' and phase = 'infer') as infer_s,
        max(median) filter (where metric = 'time' and phase = 'train.evaluate') as train_evaluate_s,
        max(median) filter (where metric = 'time' and phase = 'infer.evaluate') as infer_evaluate_s,
        sum(median) filter (where metric = 'time' and phase in ('train.transfer', 'infer.transfer')) as transfer_s,
        sum(median) filter (where metric = 'cpu_time' and (phase like 'train.%%' or phase like 'infer.%%'))
        / nullif(sum(median) filter (where metric = 'time' and phase in ('train', 'infer')), 0) as cpu_share,
        max(median) filter (where metric = 'accuracy') as accuracy,
        max(median) filter (where metric = 'mse') as mse,
        max(median) filter (where metric = 'agreement') as agreement,
        max(median) filter (where metric = 'noise_error') as noise_error,
        sum(median) filter (where metric = 'size' and phase in ('train', 'infer'))
        / nullif(sum(median) filter (where metric = 'plaintext_size'), 0) as expansion,
        max(median) filter (where metric = 'peak_memory' and phase like '%%.client') as client_peak_bytes,
        max(median) filter (where metric = 'peak_memory' and phase like '%%.server') as server_peak_bytes,
        min(comparison_key) as comparison_key
    from results
    where
        run_id = %(run_id)s
        and experiment = 'learning'
        and status = 'ok'
        and operation = any (%(operations)s)
        and variant = any (%(variants)s)
    group by
        operation, data_set, threads, scheme, variant, ring_dimension, modulus_bits, log_qp, security_2018, security_2024
) as found
order by operation, data_set, scheme, infer_s, variant;

-- name: chains
select
    scheme,
    operation,
    repetitions,
    variant,
    ring_dimension,
    is_least,
    log_qp,
    security_2018,
    security_2024,
    status,
    max(median) filter (where metric = 'time') as median,
    max(ci_low) filter (where metric = 'time') as ci_low,
    max(ci_high) filter (where metric = 'time') as ci_high,
    max(max) filter (where metric = 'peak_memory') as peak_bytes,
    max(median) filter (where metric in ('noise_budget', 'precision')) as bits_left,
    min(error) as error,
    comparison_key
from results
where
    run_id = %(run_id)s
    and experiment = 'chain'
    and (phase = 'operation' or phase is null)
    and scheme = %(scheme)s
    and coalesce(security_2018 = %(security)s, true)
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
group by
    scheme, operation, repetitions, variant, ring_dimension, is_least, log_qp, security_2018, security_2024, status,
    comparison_key
order by operation, repetitions, is_least desc, median nulls last, variant;

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
    p.note,
    m.variant,
    m.operation as workload,
    m.ring_dimension,
    m.security_2018,
    m.median,
    m.ci_low,
    m.ci_high
from published as p
left join (select * from published_match where run_id = %(run_id)s) as m on m.published_id = p.id
order by p.id, m.operation, m.ring_dimension, m.is_least, m.median;
