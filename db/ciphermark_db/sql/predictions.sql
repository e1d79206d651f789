-- name: case
select case_info_id from case_info where run_id = %(run_id)s and case_key = %(case_key)s and status = 'ok';

-- name: forget
delete from prediction where case_info_id = %(case_info_id)s;

-- name: forget_shares
delete from prediction_share where case_info_id = %(case_info_id)s;

-- name: record
insert into prediction (
    case_info_id, stage, step, metric, predicted, predicted_low, predicted_high, uncovered, cost_table
) values (
    %(case_info_id)s, %(stage)s, %(step)s, %(metric)s, %(predicted)s, %(predicted_low)s, %(predicted_high)s,
    %(uncovered)s, %(cost_table)s
);

-- name: record_share
insert into prediction_share (case_info_id, operation, occurrences, predicted_s)
values (%(case_info_id)s, %(operation)s, %(occurrences)s, %(predicted_s)s);
