-- The time of the memory kernel beside the samples of a case; no trial reported one so far.
alter table case_facts add column memory_kernel_s double precision;
