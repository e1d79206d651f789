-- Readers compare at a level of either table.
alter table case_info add column security_compared_2024 integer;

update case_info
set security_compared_2024 = case when division = 'best' and security_table = '2024' then security_bits else security_2024 end;

alter table ratio
drop constraint ratio_kind_check,
add check (kind in ('equal_security', 'equal_security_2024', 'any_security', 'hexl'));

comment on table ratio is
    'Times of cases by those of another case of their comparison: of the fastest of one security level by the 2018 table '
    '(equal_security) or the 2024 table (equal_security_2024), or of all levels (any_security), or of the same library with '
    'HEXL (hexl); kinds of encryption apart where they bear on times';

-- Jobs take their numbers from the sequence of runs: a list of both has the order in which they were recorded, and a job
-- without a run its place by its submission.
alter table job add column sequence bigint;

update job
set sequence = coalesce((select max(r.sequence) from run as r where r.started_at <= job.submitted_at), 0);

alter table job alter column sequence set not null;
alter table job alter column sequence set default nextval('run_sequence_seq');
drop index job_submitted;
create index job_sequence on job (sequence, id);

comment on column job.sequence is 'The order in which jobs were submitted, among the numbers of run.sequence';
