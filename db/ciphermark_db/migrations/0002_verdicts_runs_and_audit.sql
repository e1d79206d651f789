-- Which table a request for security is by; all requests so far were by the first.
alter table case_info add column security_table text not null default '2018';

alter table offer add column waits_for text;

comment on column offer.waits_for is 'What its worker waits for before it takes jobs; NULL: nothing';

-- A variant whose samples are all disturbed stands apart: it wins nothing.
alter table ratio
drop constraint ratio_standing_check,
add check (standing in ('win', 'tie', 'behind', 'alone', 'disturbed'));

-- The order in which runs were recorded: which one is the latest does not depend on the clocks of hosts.
alter table run add column sequence bigint;

update run
set sequence = ordered.position
from (select id, row_number() over (order by started_at, id) as position from run) as ordered
where ordered.id = run.id;

alter table run alter column sequence set not null;
alter table run alter column sequence add generated always as identity;
select setval(pg_get_serial_sequence('run', 'sequence'), coalesce(max(sequence), 0) + 1, false) from run;
create unique index run_sequence on run (sequence);

comment on column run.sequence is 'The order in which runs were recorded';

-- The time of the memory kernel beside the samples of a case; no trial reported one so far.
alter table case_facts add column memory_kernel_s double precision;

create table audit (
    id bigint primary key generated always as identity,
    acted_at timestamptz not null default clock_timestamp(),
    actor text not null,
    action text not null check (action in ('submitted', 'cancelled', 'imported', 'labelled', 'deleted')),
    run_id text not null,
    detail text
);

create index audit_run on audit (run_id);

comment on table audit is 'Who did what to runs; entries of runs that were deleted stay';
comment on column audit.actor is 'A user of the services, their own token, or user@host of a command';
comment on column audit.run_id is 'No reference: the run may be deleted, or not be recorded yet';
comment on column audit.detail is 'The suite, the label, or how many trials were new';
