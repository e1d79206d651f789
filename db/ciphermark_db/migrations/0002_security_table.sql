-- Which table a request for security is by; all requests so far were by the first.
alter table case_info add column security_table text not null default '2018';
