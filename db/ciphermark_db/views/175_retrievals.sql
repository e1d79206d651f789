-- What a query is over and brings is what a workload records of itself: no option is known by its name here.
create view retrievals as
select
    *,
    inputs * database_size / nullif(answer_s, 0) as throughput,
    answer_s / nullif(inputs * answers, 0) as element_s,
    answer_s / inputs as query_s,
    max(answer_s) filter (where inputs = 1) over (
        partition by run_id, variant, operation, dimensions - 'batch', parameter_set_id, division, threads
    ) as alone_s,
    inputs * answered_size / nullif(download, 0) as rate,
    store_size / nullif(database_size, 0) as store_expansion,
    store_size / nullif(answer_s, 0) / nullif(memory_bandwidth, 0) as bandwidth_share,
    client_s + server_s + (upload + download) * 8 / 1e7 as over_10_s,
    client_s + server_s + (upload + download) * 8 / 1e8 as over_100_s,
    client_s + server_s + (upload + download) * 8 / 1e9 as over_1000_s
from (
    select
        r.run_id,
        r.variant,
        r.library,
        r.scheme,
        r.ring_dimension,
        r.log_qp,
        r.security_2018,
        r.security_2024,
        r.operation,
        options_of(r.dimensions) as options,
        r.threads,
        coalesce((r.dimensions ->> 'batch')::integer, 1) as inputs,
        max(r.median) filter (where r.metric = 'database_size') as database_size,
        max(r.median) filter (where r.metric = 'answers') as answers,
        max(r.median) filter (where r.metric = 'answered_size') as answered_size,
        max(r.median) filter (where r.metric = 'time' and r.step = 'evaluate') as answer_s,
        max(r.ci_low) filter (where r.metric = 'time' and r.step = 'evaluate') as ci_low,
        max(r.ci_high) filter (where r.metric = 'time' and r.step = 'evaluate') as ci_high,
        max(r.median) filter (where r.metric = 'cpu_time' and r.step = 'evaluate') as answer_cpu_s,
        max(r.median) filter (where r.metric = 'time' and r.party = 'client') as client_s,
        max(r.median) filter (where r.metric = 'time' and r.party = 'server') as server_s,
        sum(r.median) filter (where r.metric = 'time' and r.step in ('trace', 'encode')) as preparation_s,
        max(r.median) filter (where r.metric = 'store_size') as store_size,
        max(r.median) filter (where r.metric = 'memory_bandwidth') as memory_bandwidth,
        min(r.median) filter (where r.metric = 'noise_budget') as noise_budget_bits,
        max(r.median) filter (where r.metric = 'size' and r.step is null and r.stage = r.answering) as upload,
        max(r.median) filter (where r.metric = 'size' and r.step = 'returned' and r.stage = r.answering) as download,
        max(r.median) filter (where r.metric = 'size' and r.step is null and r.stage = 'prepare') as keys_size,
        r.experiment,
        r.size,
        r.data_pattern,
        r.dimensions,
        r.case_key,
        r.comparison_key,
        r.modulus_bits,
        r.log_q,
        r.plain_modulus,
        r.scale,
        r.security_bits,
        r.chain_depth,
        r.ring_dimension_is_minimum,
        r.parameter_set_id,
        r.division,
        r.security_compared,
        r.key_switching,
        r.digits,
        r.special_primes,
        r.scaling,
        r.secret_distribution,
        r.encryption
    from (
        select
            *,
            max(stage) filter (where metric = 'database_size') over (partition by run_id, case_key) as answering
        from results
        where status = 'ok'
    ) as r
    where r.stage = r.answering or (r.stage = 'prepare' and r.answering is not null and r.metric = 'size')
    group by
        r.run_id, r.variant, r.library, r.scheme, r.ring_dimension, r.log_qp, r.security_2018, r.security_2024,
        r.operation, r.dimensions, r.threads, r.experiment, r.size, r.data_pattern, r.case_key,
        r.comparison_key, r.modulus_bits, r.log_q, r.plain_modulus, r.scale, r.security_bits, r.chain_depth,
        r.ring_dimension_is_minimum, r.parameter_set_id, r.division, r.security_compared, r.key_switching, r.digits,
        r.special_primes, r.scaling, r.secret_distribution, r.encryption
) as each;

comment on view retrievals is
    'Private information retrieval: a row per run and case, with what a query costs, moves and brings';
