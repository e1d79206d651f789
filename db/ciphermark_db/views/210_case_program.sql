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
comment on column case_program.run_id is 'Run: one execution of a suite on a host';
comment on column case_program.case_key is 'The case: the same in all runs and on all hosts';
comment on column case_program.comparison_key is 'The same for all cases that differ in the variant only';
comment on column case_program.variant is 'Build that executed it';
comment on column case_program.stage is 'Stage of the workload';
comment on column case_program.program is 'Digest of the program: its counts are in program_count';
comment on column case_program.scheme is 'bfv, bgv or ckks';
comment on column case_program.depth is 'Levels from its highest input down to its lowest value';
comment on column case_program.nodes is 'Number of operations';
comment on column case_program.constants is 'Number of plaintext constants';
comment on column case_program.live_ciphertexts is
    'The most ciphertexts alive at once when its nodes execute in order';
comment on column case_program.content_bytes is 'Size of the program as it is stored';
comment on column case_program.is_equal_program is
    'Whether all variants of the comparison executed the same program in this stage of the run';
