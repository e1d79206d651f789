alter table run add column progress jsonb;

comment on column run.progress is
    'Latest stage of a trial of minutes, and the time left; NULL between such trials. After a kill, the stage before it';
