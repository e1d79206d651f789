-- What a run is called, and whether it came from an archive.

alter table run
add column label text check (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
add column is_imported boolean not null default false;

comment on column run.label is 'A name that its owner gave it; several runs may have one name, which then means the latest';
comment on column run.is_imported is 'Whether it was read from an archive: measured elsewhere, or earlier';

create index run_label on run (label) where label is not null;
