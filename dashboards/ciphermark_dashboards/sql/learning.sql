-- name: learning
select *
from (
    select
        operation,
        data_set,
        threads,
        scheme,
        variant,
        status,
        ring_dimension,
        modulus_bits,
        log_qp,
        security_2018,
        security_2024,
        max(median) filter (where metric = 'time' and phase = 'prepare') as prepare_s,
        max(median) filter (where metric = 'time' and phase = 'train') as train_s,
        max(median) filter (where metric = 'time' and phase = 'infer') as infer_s,
        max(median) filter (where metric = 'accuracy') as accuracy,
        max(median) filter (where metric = 'mse') as mse,
        max(median) filter (where metric = 'agreement') as agreement,
        max(median) filter (where metric = 'noise_error') as noise_error,
        max(median) filter (where metric = 'rounding_error') as rounding_error,
        sum(median) filter (where metric = 'size' and phase in ('train', 'infer'))
        / nullif(sum(median) filter (where metric = 'plaintext_size'), 0) as expansion,
        min(error) as error,
        comparison_key
    from results
    where
        run_id = %(run_id)s
        and experiment = 'learning'
        and data_set = %(data_set)s
        and operation = any (%(operations)s)
        and variant = any (%(variants)s)
    group by
        operation, data_set, threads, scheme, variant, status, ring_dimension, modulus_bits, log_qp, security_2018,
        security_2024, comparison_key
) as found
order by operation, data_set, scheme, infer_s nulls last, variant;

-- name: stages
select
    operation,
    data_set,
    threads,
    scheme,
    variant,
    ring_dimension,
    modulus_bits,
    security_2018,
    stage,
    max(median) filter (where metric = 'time' and part = '') as time_s,
    max(median) filter (where metric = 'time' and part = 'evaluate') as evaluate_s,
    sum(median) filter (where metric = 'time' and part in ('serialize', 'deserialize')) as serialization_s,
    max(median) filter (where metric = 'time' and part = 'transfer') as transfer_s,
    max(median) filter (where metric = 'cpu_time' and part = 'client')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as client_cpu,
    max(median) filter (where metric = 'cpu_time' and part = 'server')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as server_cpu,
    max(median) filter (where metric = 'peak_memory' and part = 'client') as client_peak_bytes,
    max(median) filter (where metric = 'peak_memory' and part = 'server') as server_peak_bytes,
    comparison_key
from (
    select
        *,
        split_part(phase, '.', 1) as stage,
        split_part(phase, '.', 2) as part
    from results
    where
        run_id = %(run_id)s
        and experiment = 'learning'
        and status = 'ok'
        and data_set = %(data_set)s
        and operation = any (%(operations)s)
        and variant = any (%(variants)s)
) as found
group by
    operation, data_set, threads, scheme, variant, ring_dimension, modulus_bits, security_2018, stage, comparison_key
order by operation, scheme, array_position(array['prepare', 'train', 'infer'], stage), time_s, variant;

-- name: chains
select
    scheme,
    operation,
    repetitions,
    variant,
    ring_dimension,
    modulus_bits,
    is_least,
    size,
    data_pattern,
    threads,
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
    and experiment = 'repetition'
    and (phase = 'operation' or phase is null)
    and scheme = %(scheme)s
    and coalesce(security_2018 = %(security)s, true)
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
group by
    scheme, operation, repetitions, variant, ring_dimension, modulus_bits, is_least, size, data_pattern, threads,
    log_qp, security_2018, security_2024, status, comparison_key
order by operation, repetitions, size, is_least desc, median nulls last, variant;
