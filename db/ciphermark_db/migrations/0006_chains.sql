-- Cases whose modulus chain Ciphermark makes, chains of operations in a row, and real data.

alter table case_
    add column depth integer check (depth > 0),
    add column is_least boolean not null default false,
    add column repetitions integer check (repetitions > 0),
    add column data_set text;

comment on column case_.depth is
    'Multiplications one after another that the modulus chain was made for; NULL where the chain was given or is the '
    'library''s default';
comment on column case_.is_least is
    'Whether ring_dimension is the least to try: then the smallest from there on that is secure was taken';
comment on column case_.repetitions is 'Operations in a row (experiment chain); otherwise NULL';
comment on column case_.data_set is 'Name of the real data (experiment learning); otherwise NULL';
