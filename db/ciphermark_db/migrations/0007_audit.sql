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
