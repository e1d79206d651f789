create view case_program as
select
    found.run_id,
    found.case_key,
    found.comparison_key,
    found.variant,
    found.stage,
    p.digest as program,
    p.scheme,
    p.depth as program_depth,
    p.nodes,
    p.constants,
    p.live_ciphertexts,
    octet_length(p.content) as content_bytes,
    min(p.digest) over same_stage = max(p.digest) over same_stage as is_equal_program,
    coalesce(q.plain_modulus, found.plain_modulus) as plain_modulus,
    coalesce(q.scale, 2::double precision ^ found.scale_bits) as scale,
    found.division,
    q.key_switching,
    q.digits,
    q.scaling,
    found.parameter_set_id
from (
    select distinct
        t.run_id,
        t.case_key,
        t.parameter_set_id,
        c.comparison_key,
        c.variant,
        c.plain_modulus,
        c.scale_bits,
        c.division,
        u.stage,
        u.program
    from trial_program as u
    join trial as t on t.id = u.trial_id
    join case_ as c on c.key = t.case_key
) as found
join program as p on p.digest = found.program
left join parameter_set as q on q.id = found.parameter_set_id
window same_stage as (partition by found.run_id, found.comparison_key, found.stage);

comment on view case_program is 'Which program a case executed in a stage: a row per run, case, stage and program';
