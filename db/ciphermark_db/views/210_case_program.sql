create view case_program as
select
    found.run_id,
    found.case_key,
    found.comparison_key,
    found.variant,
    found.stage,
    p.digest as program,
    p.scheme,
    p.depth,
    p.nodes,
    p.constants,
    p.live_ciphertexts,
    octet_length(p.content) as content_bytes,
    min(p.digest) over same_stage = max(p.digest) over same_stage as is_equal_program
from (
    select distinct t.run_id, t.case_key, c.comparison_key, c.variant, u.stage, u.program
    from trial_program as u
    join trial as t on t.id = u.trial_id
    join case_ as c on c.key = t.case_key
) as found
join program as p on p.digest = found.program
window same_stage as (partition by found.run_id, found.comparison_key, found.stage);

comment on view case_program is 'Which program a case executed in a stage: a row per run, case, stage and program';
comment on column case_program.depth is 'Levels from its highest input down to its lowest value';
