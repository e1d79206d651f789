-- The parts of the circuit of a workload's last stage: what its program says of them, and what they took and came to
-- when they were executed one by one. Whatever names layers is here: no workload is known by its name.
create view layers as
select
    r.run_id,
    r.variant,
    r.library,
    r.scheme,
    r.ring_dimension,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    r.experiment,
    r.operation,
    options_of(r.dimensions) as options,
    r.threads,
    r.stage,
    f.position,
    r.step as layer,
    max(r.median) filter (where r.metric = 'layer_time') as layer_time,
    max(r.ci_low) filter (where r.metric = 'layer_time') as ci_low,
    max(r.ci_high) filter (where r.metric = 'layer_time') as ci_high,
    max(r.median) filter (where r.metric = 'layer_time') / nullif(
        sum(max(r.median) filter (where r.metric = 'layer_time')) over (
            partition by r.run_id, r.case_key, r.library, r.parameter_set_id, r.stage
        ),
        0
    ) as layer_share,
    f.level,
    f.end_level,
    f.scale_bits as end_scale_bits,
    f.operations,
    f.operand_bytes,
    f.result_bytes,
    max(r.max) filter (where r.metric = 'layer_largest') as layer_largest,
    max(r.max) filter (where r.metric = 'layer_error') as layer_error,
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
from results as r
join (
    select distinct on (t.run_id, t.case_key, t.parameter_set_id, l.stage, l.layer)
        t.run_id,
        t.case_key,
        t.parameter_set_id,
        l.*,
        (
            select jsonb_object_agg(each.operation, each.n)
            from (
                select counted.operation, sum(counted.n) as n
                from jsonb_to_recordset(l.counts) as counted (operation text, n bigint)
                group by counted.operation
            ) as each
        ) as operations
    from trial_layer as l
    join trial as t on t.id = l.trial_id
    order by t.run_id, t.case_key, t.parameter_set_id, l.stage, l.layer, t.id
) as f
    on f.run_id = r.run_id
    and f.case_key = r.case_key
    and f.parameter_set_id is not distinct from r.parameter_set_id
    and f.stage = r.stage
    and f.layer = r.step
where r.status = 'ok' and r.metric in ('layer_time', 'layer_largest', 'layer_error')
group by
    r.run_id, r.variant, r.library, r.scheme, r.ring_dimension, r.log_qp, r.security_2018, r.security_2024,
    r.experiment, r.operation, r.dimensions, r.threads, r.stage, r.step, r.size, r.data_pattern, r.case_key,
    r.comparison_key, r.modulus_bits, r.log_q, r.plain_modulus, r.scale, r.security_bits, r.chain_depth,
    r.ring_dimension_is_minimum, r.parameter_set_id, r.division, r.security_compared, r.key_switching, r.digits,
    r.special_primes, r.scaling, r.secret_distribution, r.encryption,
    f.position, f.level, f.end_level, f.scale_bits, f.operations, f.operand_bytes, f.result_bytes;

comment on view layers is
    'The parts of what a server computes, executed one by one beside the passes that are timed as a whole: a row per run, case, stage and layer';
