-- Trials that are pooled into one figure: the same case, build and parameters in one run, with the same status. What
-- is known of a case, its build and its parameters is a column here, and views take it from here.
create view trial_group as
select
    g.run_id,
    g.case_key,
    g.status,
    g.build_id,
    g.parameter_set_id,
    g.is_composed,
    g.trial_ids,
    g.error,
    g.status = 'ok' or (
        g.status = 'exhausted' and c.experiment in (select name from experiment where is_until_exhausted)
    ) as is_counted,
    c.comparison_key,
    c.variant,
    b.library,
    b.version as library_version,
    b.hexl,
    b.is_debug,
    b.is_reference,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    c.ring_dimension_is_minimum,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    coalesce(p.plain_modulus, c.plain_modulus) as plain_modulus,
    coalesce(p.scale, 2::double precision ^ c.scale_bits) as scale,
    coalesce(p.slots, c.slots) as slots,
    c.security_bits,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    c.depth as chain_depth,
    c.dimensions,
    c.division,
    g.is_sequential,
    g.is_watched,
    g.anchor_s,
    g.anchor_spread,
    g.steal_share,
    g.executed_ciphertexts,
    case c.division when 'best' then c.security_bits else p.security_2018 end as security_compared,
    p.key_switching,
    p.digits,
    cardinality(p.special_moduli) as special_primes,
    p.scaling,
    p.secret_distribution,
    p.encryption
from (
    select
        run_id,
        case_key,
        status,
        build_id,
        parameter_set_id,
        bool_or(facts @> '{"is_composed": 1}') as is_composed,
        bool_or(budget ->> 'precision' is not null) as is_sequential,
        min((facts ->> 'executed_ciphertexts')::double precision)::bigint as executed_ciphertexts,
        array_agg(id) as trial_ids,
        bool_and(facts ? 'anchor_s') as is_watched,
        median_of(array_agg((facts ->> 'anchor_s')::float8 order by (facts ->> 'anchor_s')::float8) filter (
            where facts ? 'anchor_kernel'
        )) as anchor_s,
        max((facts ->> 'anchor_spread')::float8) as anchor_spread,
        sum((facts ->> 'steal_s')::float8) / nullif(sum(duration_s) filter (where facts ? 'steal_s'), 0) as steal_share,
        string_agg(distinct error, E'\n') filter (where error is not null) as error
    from trial
    group by run_id, case_key, status, build_id, parameter_set_id
) as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id;

comment on view trial_group is
    'Internal: trials pooled into one figure; is_counted tells whether their samples may be shown, '
    'is_sequential whether their number depends on them';
