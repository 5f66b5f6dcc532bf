"""lab.check("connect"): the whole kind of mistakes that a learner makes with a queue and a mapping."""

from __future__ import annotations

import pytest

from helpers.lab.services import zip_of

POINTS = ("queue", "mapping", "batch-size", "enabled", "no-early-job")


def test_nothing_was_attempted_in_a_fresh_account(learner):
    assert learner.outcomes("connect") == dict.fromkeys(POINTS, "not-attempted")


def test_a_connected_empty_queue_is_right(learner):
    learner.connect()
    report = learner.lab.check("connect")
    assert report.passed, str(report)
    assert [item.id for item in report.items] == list(POINTS)
    assert report.title == learner.lab.texts.title("connect")
    assert all(item.text and item.hint for item in report.items)


def test_the_check_can_be_asked_again_and_changes_nothing(learner):
    learner.connect()
    first = learner.lab.check("connect")
    assert learner.lab.check("connect") == first


@pytest.mark.parametrize("attributes", [{"VisibilityTimeout": "45"}, {"DelaySeconds": "0"}])
def test_the_visibility_timeout_is_named(learner, attributes):
    learner.make_queue(**{"VisibilityTimeout": "31", **attributes})
    detail = learner.detail("connect", "queue")
    assert attributes.get("VisibilityTimeout", "31") in detail
    assert "30" in detail


def test_a_queue_of_another_name_is_named(learner):
    learner.make_queue("q05-job")
    assert "`q05-job`" in learner.detail("connect", "queue")


def test_the_dead_letter_queue_alone_is_not_a_wrong_name(learner):
    learner.make_queue("q05-dead")
    assert learner.outcomes("connect")["queue"] == "not-attempted"


def test_a_fifo_queue_is_named(learner):
    learner.make_queue("q05-jobs.fifo", FifoQueue="true")
    assert "FIFO" in learner.detail("connect", "queue")


@pytest.fixture
def other_worker(learner):
    """A second function that the learner made, with the same rights."""
    services = learner.lab._lesson.services
    role = services.client("iam").get_role(RoleName="q05-worker-role")["Role"]["Arn"]
    services.make_function("mine", role, zip_of({"app.py": "def handler(event, context): ...\n"}), {}, 5)
    learner.lab.settle()
    return "mine"


def test_a_mapping_to_another_function_is_named(learner, other_worker):
    learner.make_queue()
    learner.map(function=other_worker)
    assert "from `q05-jobs` to `mine`" in learner.detail("connect", "mapping")
    assert learner.outcomes("connect")["batch-size"] == "not-attempted"


def test_a_second_mapping_takes_jobs_away(learner, other_worker):
    learner.connect()
    learner.map(function=other_worker)
    assert "`mine`" in learner.detail("connect", "mapping")


@pytest.mark.parametrize("size", [2, 10])
def test_another_batch_size_is_named(learner, size):
    learner.make_queue()
    learner.map(BatchSize=size)
    assert str(size) in learner.detail("connect", "batch-size")
    assert learner.outcomes("connect")["mapping"] == "right"


def test_a_disabled_mapping_is_named(learner):
    learner.make_queue()
    learner.map(Enabled=False)
    assert "`Disabled`" in learner.detail("connect", "enabled")


def test_a_job_before_the_guard_is_counted(learner):
    learner.connect()
    learner.send()
    learner.send()
    learner.lab.settle()
    assert learner.detail("connect", "no-early-job").startswith("2 jobs")
    learner.deploy()
    assert learner.outcomes("connect")["no-early-job"] == "not-yet"


def test_a_job_after_the_guard_is_right(learner):
    learner.first_job()
    assert learner.lab.check("connect").passed
