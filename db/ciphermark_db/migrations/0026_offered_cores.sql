-- How many processes a host holds side by side depends on its cores, too.

alter table offer add column cores integer;

comment on column offer.cores is 'Cores that the worker may use; NULL where it was started before this was told';
