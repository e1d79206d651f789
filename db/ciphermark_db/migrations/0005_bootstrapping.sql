-- Primes of the bootstrapping circuit, where ciphertexts outside have others.
alter table case_info add column bootstrapping_bits integer[];
