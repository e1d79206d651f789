-- Nodes of programs have levels of their own.
create view case_program as
select
    {{case_but_level}},
    u.stage,
    p.digest as program,
    p.depth as program_depth,
    p.nodes,
    p.constants,
    p.live_ciphertexts,
    octet_length(p.content) as content_bytes,
    min(p.digest) over same_stage = max(p.digest) over same_stage as is_equal_program
from (
    select distinct t.case_info_id, u.stage, u.program
    from trial_program as u
    join trial as t on t.id = u.trial_id
) as u
join case_info as i on i.case_info_id = u.case_info_id
join program as p on p.digest = u.program
window same_stage as (partition by i.run_id, i.comparison_group, u.stage);

comment on view case_program is 'Programs that cases executed: a row per run, case, stage and program';
