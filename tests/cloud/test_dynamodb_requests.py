"""What DynamoDB refuses, in its words, and what it accepts.

Sources: DynamoDB API Reference, "Quotas in Amazon DynamoDB", "Comparison operator and function reference", "Update
expressions"; the sentences are those of the service's ValidationException, as public issues and test suites that run
against AWS quote them.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.cloud import Cloud
from helpers.cloud.dynamodb_expressions import check_condition
from helpers.cloud.dynamodb_grammar import Mistake
from helpers.cloud.dynamodb_returned import updated_paths
from helpers.cloud.dynamodb_values import number, size

INVALID = "One or more parameter values were invalid: "
DETECTED = "1 validation error detected: "
MISMATCH = "The provided key element does not match the schema"
A = {"id": {"S": "a"}}


@pytest.fixture(scope="module")
def table(cloud: Cloud) -> Any:
    """A client that checks nothing by itself, with a table `orders` (id) and a table `lines` (order, line)."""
    unchecked = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    client = cloud.client("dynamodb", config=unchecked)
    for name, keys in (("orders", {"id": "S"}), ("lines", {"order": "S", "line": "N"})):
        client.create_table(
            TableName=name,
            KeySchema=[
                {"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
            ],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": kind} for key, kind in keys.items()],
            BillingMode="PAY_PER_REQUEST",
        )
        client.get_waiter("table_exists").wait(TableName=name)
    return client


@pytest.fixture
def order(table: Any) -> dict[str, Any]:
    """The item `a` as it is before each test."""
    item = {**A, "n": {"N": "1"}, "t": {"S": "text"}, "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}}
    table.put_item(TableName="orders", Item=item)
    return item


def refusal(call: Any, **members: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as problem:
        call(**members)
    response = problem.value.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return response["Error"]["Code"], response["Error"]["Message"]


def stored(table: Any, name: str = "a") -> Any:
    return table.get_item(TableName="orders", Key={"id": {"S": name}}, ConsistentRead=True).get("Item")


# --- values -----------------------------------------------------------------------------------------------------------


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        (
            {"S": "1", "N": "1"},
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes",
        ),
        ({"N": "one"}, "The parameter cannot be converted to a numeric value: one"),
        ({"N": "NaN"}, "The parameter cannot be converted to a numeric value: NaN"),
        ({"N": "1_0"}, "The parameter cannot be converted to a numeric value: 1_0"),
        ({"N": ""}, "The parameter cannot be converted to a numeric value"),
        ({"N": "1" * 39}, "Attempting to store more than 38 significant digits in a Number"),
        ({"N": "1e126"}, "Number overflow. Attempting to store a number with magnitude larger than supported range"),
        ({"N": "1e-131"}, "Number underflow. Attempting to store a number with magnitude smaller than supported range"),
        ({"SS": []}, f"{INVALID}An string set  may not be empty"),
        ({"NS": []}, f"{INVALID}An number set  may not be empty"),
        ({"BS": []}, f"{INVALID}Binary sets should not be empty"),
        ({"M": {"in": {"L": [{"SS": []}]}}}, f"{INVALID}An string set  may not be empty"),
        ({"SS": ["a", "b", "a"]}, f"{INVALID}Input collection [a, b, a] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"NULL": False}, f"{INVALID}Null attribute value types must have the value of true"),
        (nested(32), "Nesting Levels have exceeded supported limits"),
    ],
)
def test_a_value_that_no_item_can_have_is_refused(table: Any, value: dict[str, Any], sentence: str) -> None:
    code, said = refusal(table.put_item, TableName="orders", Item={"id": {"S": "bad"}, "v": value})
    assert (code, said) == ("ValidationException", sentence)
    assert stored(table, "bad") is None


@pytest.mark.parametrize(("value", "found"), [(5, "NUMBER_VALUE"), (1.5, "NUMBER_VALUE"), (True, "TRUE_VALUE")])
@pytest.mark.parametrize("kind", ["S", "N"])
def test_a_json_number_is_no_text(table: Any, kind: str, value: Any, found: str) -> None:
    said = refusal(table.put_item, TableName="orders", Item={**A, "v": {kind: value}})
    assert said == ("SerializationException", f"{found} cannot be converted to String")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("007.50", "7.5"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("+5", "5"),
        ("1" + "0" * 60, "1" + "0" * 60),
        ("9" * 38, "9" * 38),
        ("1E-2", "0.01"),
        (" 3 ", "3"),
        ("0.00", "0"),
    ],
)
def test_a_number_is_kept_in_its_shortest_form(table: Any, written: str, kept: str) -> None:
    table.put_item(TableName="orders", Item={"id": {"S": "number"}, "v": {"N": written}, "s": {"NS": [written]}})
    item = stored(table, "number")
    assert (item["v"], item["s"]) == ({"N": kept}, {"NS": [kept]})


@settings(max_examples=100, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=5))
def test_a_number_keeps_its_value(value: Any) -> None:
    assert type(value)(number(str(value))) == value


def test_two_spellings_of_a_number_are_one_key(table: Any) -> None:
    table.put_item(TableName="lines", Item={"order": {"S": "o"}, "line": {"N": "1.0"}})
    key = {"order": {"S": "o"}, "line": {"N": "01"}}
    assert table.get_item(TableName="lines", Key=key)["Item"]["line"] == {"N": "1"}


def test_an_item_holds_exactly_400_kilobytes(table: Any) -> None:
    most = 409_600 - len("id") - len("big") - len("v")
    table.put_item(TableName="orders", Item={"id": {"S": "big"}, "v": {"S": "é" * (most // 2) + "x" * (most % 2)}})
    more = {"id": {"S": "big"}, "v": {"S": "x" * (most + 1)}}
    sentence = "Item size has exceeded the maximum allowed size"
    assert refusal(table.put_item, TableName="orders", Item=more) == ("ValidationException", sentence)
    update = {"UpdateExpression": "SET w = :w", "ExpressionAttributeValues": {":w": {"S": ""}}}
    said = refusal(table.update_item, TableName="orders", Key={"id": {"S": "big"}}, **update)
    assert said == ("ValidationException", "Item size to update has exceeded the maximum allowed size")
    assert set(stored(table, "big")) == {"id", "v"}, "the update left something behind"
    table.delete_item(TableName="orders", Key={"id": {"S": "big"}})


@pytest.mark.parametrize(
    ("item", "bytes_"),
    [
        ({"a": {"S": "é"}}, 3),
        ({"a": {"BOOL": True}}, 2),
        ({"a": {"NULL": True}}, 2),
        ({"a": {"B": "AAAA"}}, 4),
        ({"a": {"L": []}}, 4),
        ({"a": {"M": {"b": {"S": "c"}}}}, 7),
        ({"a": {"N": "1000"}}, 3),
        ({"a": {"SS": ["b", "cd"]}}, 4),
    ],
)
def test_the_size_of_an_item_counts_names_and_values(item: dict[str, Any], bytes_: int) -> None:
    """DynamoDB Developer Guide, "DynamoDB Item sizes and formats"."""
    assert size(item) == bytes_


# --- keys -------------------------------------------------------------------------------------------------------------

KEY_CALLS = ("get_item", "delete_item", "update_item")


@pytest.mark.parametrize("call", KEY_CALLS)
@pytest.mark.parametrize("key", [{"id": {"N": "1"}}, {"other": {"S": "a"}}, {**A, "other": {"S": "a"}}, {}])
def test_a_key_must_be_the_tables_key(table: Any, call: str, key: dict[str, Any]) -> None:
    assert refusal(getattr(table, call), TableName="orders", Key=key) == ("ValidationException", MISMATCH)


@pytest.mark.parametrize("call", KEY_CALLS)
def test_a_key_must_be_complete(table: Any, call: str) -> None:
    said = refusal(getattr(table, call), TableName="lines", Key={"order": {"S": "o"}})
    assert said == ("ValidationException", MISMATCH)


@pytest.mark.parametrize("call", [*KEY_CALLS, "put_item"])
@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (
            "",
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: id",
        ),
        ("k" * 2049, f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes"),
    ],
    ids=["empty", "long"],
)
def test_a_key_has_a_length(table: Any, call: str, key: str, sentence: str) -> None:
    members = {"Item" if call == "put_item" else "Key": {"id": {"S": key}}}
    assert refusal(getattr(table, call), TableName="orders", **members) == ("ValidationException", sentence)


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({"v": {"S": "x"}}, f"{INVALID}Missing the key id in the item"),
        ({"id": {"N": "1"}}, f"{INVALID}Type mismatch for key id expected: S actual: N"),
        ({"id": {"NULL": True}}, f"{INVALID}Type mismatch for key id expected: S actual: NULL"),
    ],
)
def test_an_item_has_the_tables_key(table: Any, item: dict[str, Any], sentence: str) -> None:
    assert refusal(table.put_item, TableName="orders", Item=item) == ("ValidationException", sentence)
    batch = {"orders": [{"PutRequest": {"Item": {"id": {"S": "first"}}}}, {"PutRequest": {"Item": item}}]}
    assert refusal(table.batch_write_item, RequestItems=batch) == ("ValidationException", sentence)
    assert stored(table, "first") is None, "half of a batch was written"


# --- expressions ------------------------------------------------------------------------------------------------------

NAMES = {"#s": "status"}
VALUES = {":n": {"N": "5"}, ":less": {"N": "1"}, ":t": {"S": "x"}, ":b": {"BOOL": True}, ":l": {"L": []}}


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("attribute_not_exist(id)", "Invalid function name; function: attribute_not_exist"),
        ("Attribute_Not_Exists(id)", "Invalid function name; function: Attribute_Not_Exists"),
        ("attribute_not_exists(id", 'Syntax error; token: "<EOF>", near: "id"'),
        ("attribute_not_exists id", 'Syntax error; token: "id", near: "attribute_not_exists id"'),
        ("id =", 'Syntax error; token: "<EOF>", near: "="'),
        ("id == :n", 'Syntax error; token: "=", near: "== :n"'),
        ("id != :n", 'Syntax error; token: "!", near: "id !="'),
        ("id = 5", 'Syntax error; token: "5", near: "= 5"'),
        ("id = 'a'", 'Syntax error; token: "\'", near: "= \'a"'),
        ("id = :n && t = :t", 'Syntax error; token: "&", near: ":n &&"'),
        ("id = :n)", 'Syntax error; token: ")", near: ":n)"'),
        ("id IN ()", 'Syntax error; token: ")", near: "()"'),
        ("order-id = :n", 'Syntax error; token: "-", near: "order-id"'),
        ("status = :t", "Attribute name is a reserved keyword; reserved keyword: status"),
        ("m.Status = :t", "Attribute name is a reserved keyword; reserved keyword: Status"),
        (
            "id = :y",
            "An expression attribute value used in expression is not defined; attribute value: :y",
        ),
        (
            "#y = :n",
            "An expression attribute name used in the document path is not defined; attribute name: #y",
        ),
        (
            "attribute_exists(id, t)",
            "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of "
            "operands: 2",
        ),
        (
            "begins_with(t)",
            "Incorrect number of operands for operator or function; operator or function: begins_with, number of "
            "operands: 1",
        ),
        (
            "attribute_exists(:t)",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "begins_with(t, :n)",
            "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
        ),
        ("n < :b", "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"),
        (
            "attribute_type(t, :t)",
            "Invalid attribute type name found; type: x, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        ),
        (
            "n BETWEEN :n AND :less",
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound "
            "operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}",
        ),
        (
            "n BETWEEN :n AND :t",
            "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
            "AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:x}",
        ),
        (
            "n = n",
            "The first operand must be distinct from the remaining operands for this operator or function; operator: "
            "=, first operand: [n]",
        ),
        ("size(t)", "The function is not allowed to be used this way in an expression; function: size"),
        (
            "attribute_exists(t) = :b",
            "The function is not allowed to be used this way in an expression; function: attribute_exists",
        ),
        ("((n = :n))", "The expression has redundant parentheses;"),
    ],
)
def test_a_mistake_in_a_condition_is_named_in_dynamodbs_words(table: Any, expression: str, sentence: str) -> None:
    names = {name: value for name, value in NAMES.items() if name in expression}
    values = {name: value for name, value in VALUES.items() if name in expression}
    members = {
        "ConditionExpression": expression,
        **({"ExpressionAttributeNames": names} if names else {}),
        **({"ExpressionAttributeValues": values} if values else {}),
    }
    for call, subject in (("put_item", {"Item": A}), ("delete_item", {"Key": A})):
        code, said = refusal(getattr(table, call), TableName="orders", **subject, **members)
        assert (code, said) == ("ValidationException", f"Invalid ConditionExpression: {sentence}")


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("attribute_exists(id)", True),
        ("(attribute_exists (id))", True),
        ("attribute_not_exists(#s) AND n = :one", True),
        ("NOT (n <> :one)", True),
        ("not n = :two", True),
        ("n IN (:two, :one)", True),
        ("n BETWEEN :one AND :two", True),
        ("n between :one and :two AND t = :text", True),
        ("m.x = :one", True),
        ("m.y > n", True),
        ("(n = :two) OR (t = :text)", True),
        ("((n = :two) OR (t = :text)) AND attribute_exists(id)", True),
        ("size(t) > n", True),
        ("begins_with(t, :te)", True),
        ("contains(t, :te)", True),
        ("n < :text", False),
        ("t > :one", False),
        ("n BETWEEN :te AND :text", False),
        ("t = :one", False),
        ("t <> :one", True),
        ("n = :true", False),
        ("gone = :one", False),
        ("gone <> :one", True),
        ("gone = m.nothing", False),
        ("size(gone) < :two", False),
        ("size(n) < :two", False),
        ("n IN (:text, :true)", False),
    ],
)
def test_a_condition_holds_or_does_not(table: Any, order: dict[str, Any], expression: str, holds: bool) -> None:
    """Values of different types are neither equal nor in an order; what does not exist differs from everything."""
    literals = {
        ":one": {"N": "1"},
        ":two": {"N": "2"},
        ":text": {"S": "text"},
        ":te": {"S": "te"},
        ":true": {"BOOL": True},
    }
    used = {
        name: value
        for name, value in literals.items()
        if name + " " in expression.replace(")", " ").replace(",", " ") + " "
    }
    names = {"ExpressionAttributeNames": NAMES} if "#s" in expression else {}
    values = {"ExpressionAttributeValues": used} if used else {}
    write = {"TableName": "orders", "Item": order, "ConditionExpression": expression, **names, **values}
    if holds:
        table.put_item(**write)
    else:
        said = refusal(table.put_item, **write)
        assert said == ("ConditionalCheckFailedException", "The conditional request failed")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "#s", ":n", "(", ")", "=", "<", "AND", "NOT", "IN", "size", ",", ".", "[0]", "'"]))
)
def test_no_expression_makes_the_parser_fail(tokens: list[str]) -> None:
    with contextlib.suppress(Mistake):
        check_condition(" ".join(tokens), NAMES, VALUES)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (
            {"ExpressionAttributeValues": {":u": {"S": "x"}}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
        ),
        (
            {"ExpressionAttributeNames": {"#u": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
        ({"ExpressionAttributeValues": {}}, "ExpressionAttributeValues must not be empty"),
    ],
)
def test_what_an_expression_does_not_use_is_refused(table: Any, members: dict[str, Any], sentence: str) -> None:
    write = {"TableName": "orders", "ConditionExpression": "attribute_exists(id)", **members}
    assert refusal(table.put_item, Item=A, **write) == ("ValidationException", DETECTED + sentence)
    assert refusal(table.delete_item, Key=A, **write) == ("ValidationException", DETECTED + sentence)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (
            {"ExpressionAttributeValues": {":u": {"S": "x"}}},
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
        ),
        (
            {"ExpressionAttributeNames": {"#u": "x"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ConditionExpression": "a = :u", "ExpressionAttributeValues": {"u": {"S": "x"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "u"',
        ),
        (
            {"ConditionExpression": "attribute_exists(id)", "Expected": {"id": {"Exists": False}}},
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            "parameters: {Expected} Expression parameters: {ConditionExpression}",
        ),
        ({"ReturnValues": "ALL_NEW"}, "ReturnValues can only be ALL_OLD or NONE"),
        (
            {"ReturnValues": "SOME"},
            f"{DETECTED}Value 'SOME' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value "
            "set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
        ),
        (
            {"Expected": {"id": {"Exists": True}}},
            f"{INVALID}Value must be provided when Exists is true for Attribute: id",
        ),
        ({"Expected": {"id": {}}}, f"{INVALID}Value must be provided when Exists is null for Attribute: id"),
        (
            {"Expected": {"id": {"Exists": False, "Value": {"S": "x"}}}},
            f"{INVALID}Value cannot be used when Exists is false for Attribute: id",
        ),
    ],
)
@pytest.mark.parametrize("call", ["put_item", "delete_item"])
def test_parameters_that_do_not_go_together_are_refused(
    table: Any, call: str, members: dict[str, Any], sentence: str
) -> None:
    subject = {"Item": A} if call == "put_item" else {"Key": A}
    said = refusal(getattr(table, call), TableName="orders", **subject, **members)
    assert said == ("ValidationException", sentence)


@pytest.mark.parametrize("call", ["put_item", "delete_item", "update_item"])
@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"n": {"Value": {"N": "1"}}}, True),
        ({"n": {"Value": {"N": "2"}}}, False),
        ({"id": {"Exists": False}}, False),
        ({"other": {"Exists": False}}, True),
        ({"n": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "0"}]}}, True),
    ],
)
def test_the_older_conditions_are_conditions_too(
    table: Any, order: dict[str, Any], call: str, expected: dict[str, Any], holds: bool
) -> None:
    """DynamoDB Developer Guide, "Legacy conditional parameters": Expected."""
    subject: dict[str, Any] = {"Item": order} if call == "put_item" else {"Key": A}
    if call == "update_item":
        subject["AttributeUpdates"] = {"seen": {"Action": "PUT", "Value": {"BOOL": True}}}
    if holds:
        getattr(table, call)(TableName="orders", Expected=expected, **subject)
        return
    said = refusal(getattr(table, call), TableName="orders", Expected=expected, **subject)
    assert said == ("ConditionalCheckFailedException", "The conditional request failed")
    assert stored(table) == order


# --- updates ----------------------------------------------------------------------------------------------------------


def update(table: Any, expression: str, **members: Any) -> Any:
    members = {"TableName": "orders", "Key": A, **members}
    return table.update_item(UpdateExpression=expression, **members)


@pytest.mark.parametrize(
    ("expression", "value", "sentence"),
    [
        ("ADD t :v", {"N": "1"}, "An operand in the update expression has an incorrect data type"),
        ("ADD n :v", {"NS": ["1"]}, "An operand in the update expression has an incorrect data type"),
        ("DELETE n :v", {"NS": ["1"]}, "An operand in the update expression has an incorrect data type"),
        (
            "SET n = gone + :v",
            {"N": "1"},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        ("SET gone.x = :v", {"N": "1"}, "The document path provided in the update expression is invalid for update"),
        ("SET id = :v", {"S": "b"}, f"{INVALID}Cannot update attribute id. This attribute is part of the key"),
        (
            "SET status = :v",
            {"S": "b"},
            "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: status",
        ),
        (
            "SET #s = :v",
            {"S": "b"},
            "Invalid UpdateExpression: An expression attribute name used in the document path "
            "is not defined; attribute name: #s",
        ),
        (
            "SET n = :w",
            {"N": "1"},
            "Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :w",
        ),
        ("SET n :v", {"N": "1"}, 'Invalid UpdateExpression: Syntax error; token: ":v", near: "n :v"'),
        ("n = :v", {"N": "1"}, 'Invalid UpdateExpression: Syntax error; token: "n", near: "n ="'),
    ],
)
def test_a_mistake_in_an_update_is_named_in_dynamodbs_words(
    table: Any, order: dict[str, Any], expression: str, value: dict[str, Any], sentence: str
) -> None:
    said = refusal(update, table=table, expression=expression, ExpressionAttributeValues={":v": value})
    assert said == ("ValidationException", sentence)
    assert stored(table) == order


@pytest.mark.parametrize("name", ["a", "unknown"])
def test_an_update_that_fails_half_way_leaves_nothing_behind(table: Any, order: dict[str, Any], name: str) -> None:
    """An update is atomic: of several clauses all are done or none ("Working with items and attributes")."""
    before = stored(table, name)
    values = {":v": {"S": "new"}, ":one": {"N": "1"}, ":set": {"SS": ["x"]}}
    said = refusal(
        update,
        table=table,
        expression="SET fresh = :v ADD good :one, wrong :v"
        if name == "unknown"
        else "SET fresh = :v ADD n :one, t :set",
        Key={"id": {"S": name}},
        ExpressionAttributeValues={key: values[key] for key in ((":v", ":one") if name == "unknown" else values)},
    )
    assert said[0] == "ValidationException"
    assert stored(table, name) == before


@pytest.mark.parametrize(
    ("wanted", "expression", "told"),
    [
        ("NONE", "SET n = :v", None),
        ("ALL_OLD", "SET n = :v", "before"),
        ("ALL_NEW", "SET n = :v", "after"),
        ("UPDATED_NEW", "SET n = :v", {"n": {"N": "1"}}),
        ("UPDATED_OLD", "SET n = :v", {"n": {"N": "1"}}),
        ("UPDATED_NEW", "SET fresh = :v, m.x = :v REMOVE t", {"fresh": {"N": "1"}, "m": {"M": {"x": {"N": "1"}}}}),
        ("UPDATED_OLD", "SET fresh = :v REMOVE t", {"t": {"S": "text"}}),
        ("UPDATED_NEW", "ADD n :v", {"n": {"N": "2"}}),
        ("UPDATED_NEW", "SET n = if_not_exists(n, :v) + :v, t = t", {"n": {"N": "2"}, "t": {"S": "text"}}),
    ],
)
def test_an_update_gives_back_what_was_asked(
    table: Any, order: dict[str, Any], wanted: str, expression: str, told: Any
) -> None:
    """API Reference, "UpdateItem", ReturnValues: UPDATED_NEW names an attribute also when its value did not change."""
    values = {":v": {"N": "1"}} if ":v" in expression else {}
    answer = update(table, expression, ReturnValues=wanted, ExpressionAttributeValues=values)
    expected = {"before": order, "after": stored(table)}.get(told, told) if isinstance(told, str) else told
    assert answer.get("Attributes") == expected


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("SET a = :v", [("a",)]),
        ("set a=:v,#n.b[2].c = list_append(a, :v) remove d, e[0]", [("a",), ("name", "b", 2, "c"), ("d",), ("e", 0)]),
        ("ADD n :v, s :v DELETE t :w", [("n",), ("s",), ("t",)]),
        ("SET a = if_not_exists(a, :v) + :v, b = :v", [("a",), ("b",)]),
    ],
)
def test_the_paths_that_an_update_names(expression: str, paths: list[tuple[Any, ...]]) -> None:
    assert updated_paths(expression, {"#n": "name"}) == paths


def test_an_update_of_nothing_creates_the_item(table: Any) -> None:
    key = {"id": {"S": "empty"}}
    assert table.update_item(TableName="orders", Key=key, ReturnValues="ALL_NEW")["Attributes"] == key


def test_a_refused_condition_gives_the_item_to_those_who_ask(table: Any, order: dict[str, Any]) -> None:
    """API Reference, ReturnValuesOnConditionCheckFailure, of all three writes."""
    ask = {
        "TableName": "orders",
        "ConditionExpression": "attribute_not_exists(id)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    changes = {"UpdateExpression": "REMOVE n"}
    for call, subject in (
        (table.put_item, {"Item": A}),
        (table.delete_item, {"Key": A}),
        (table.update_item, {"Key": A, **changes}),
    ):
        with pytest.raises(table.exceptions.ConditionalCheckFailedException) as problem:
            call(**ask, **subject)
        assert problem.value.response["Item"] == order
    missing = {"Key": {"id": {"S": "gone"}}, "ConditionExpression": "attribute_exists(id)"}
    with pytest.raises(table.exceptions.ConditionalCheckFailedException) as problem:
        table.delete_item(**{**ask, **missing})
    assert "Item" not in problem.value.response


def test_consumed_capacity_is_told_to_those_who_ask(table: Any, order: dict[str, Any]) -> None:
    answer = update(table, "REMOVE n")
    assert answer.keys() == {"ResponseMetadata"}
    answer = table.get_item(TableName="orders", Key=A, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["TableName"] == "orders"


# --- batches ----------------------------------------------------------------------------------------------------------


def put(name: str) -> dict[str, Any]:
    return {"PutRequest": {"Item": {"id": {"S": name}}}}


@pytest.mark.parametrize(
    ("requests", "begin", "end"),
    [
        ({}, DETECTED, "Member must have length greater than or equal to 1"),
        ({"orders": []}, "The batch write request list for a table cannot be null or empty: orders", ""),
        (
            {"orders": [put(str(n)) for n in range(26)]},
            DETECTED,
            "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]",
        ),
        ({"orders": [put("1"), put("1")]}, "Provided list of item keys contains duplicates", ""),
        (
            {"orders": [put("1"), {"DeleteRequest": {"Key": {"id": {"S": "1"}}}}]},
            "Provided list of item keys contains duplicates",
            "",
        ),
        ({"orders": [put("1"), {"DeleteRequest": {"Key": {"id": {"N": "1"}}}}]}, MISMATCH, ""),
        ({"or": [put("1")]}, "Invalid table/index name.", "'_', '-', and '.'"),
    ],
)
def test_a_batch_has_limits_and_is_refused_as_a_whole(table: Any, requests: Any, begin: str, end: str) -> None:
    code, said = refusal(table.batch_write_item, RequestItems=requests)
    assert code == "ValidationException"
    assert said.startswith(begin)
    assert said.endswith(end)
    assert stored(table, "1") is None


def test_a_batch_names_each_item_once_also_when_it_reads(table: Any) -> None:
    said = refusal(table.batch_get_item, RequestItems={"orders": {"Keys": [A, A]}})
    assert said == ("ValidationException", "Provided list of item keys contains duplicates")


# --- query and scan ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ten_lines(table: Any) -> None:
    for line in range(10):
        item = {"order": {"S": "big"}, "line": {"N": str(line)}, "even": {"BOOL": line % 2 == 0}}
        table.put_item(TableName="lines", Item={**item, "pad": {"S": "p" * 300_000}})


OF_BIG = {
    "TableName": "lines",
    "KeyConditionExpression": "#o = :o",
    "ExpressionAttributeNames": {"#o": "order"},
    "ExpressionAttributeValues": {":o": {"S": "big"}},
}


def numbers(answer: dict[str, Any]) -> list[str]:
    return [item["line"]["N"] for item in answer["Items"]]


def test_a_page_of_a_query_ends_at_one_megabyte(table: Any, ten_lines: None) -> None:
    """DynamoDB Developer Guide, "Paginating table query results": before the filter, whatever is projected."""
    pages = list(table.get_paginator("query").paginate(**OF_BIG, ProjectionExpression="line"))
    assert [line for page in pages for line in numbers(page)] == [str(line) for line in range(10)]
    assert [page["Count"] for page in pages] == [page["ScannedCount"] for page in pages]
    assert len(pages) >= 3
    assert all("LastEvaluatedKey" in page for page in pages[:-1])


def test_the_limit_counts_before_the_filter(table: Any, ten_lines: None) -> None:
    values = {":o": {"S": "big"}, ":t": {"BOOL": True}}
    ask = {**OF_BIG, "ExpressionAttributeValues": values, "ProjectionExpression": "line"}
    answer = table.query(**ask, FilterExpression="even = :t", Limit=3)
    assert (numbers(answer), answer["Count"], answer["ScannedCount"]) == (["0", "2"], 2, 3)
    assert answer["LastEvaluatedKey"] == {"order": {"S": "big"}, "line": {"N": "2"}}
    rest = table.query(**ask, FilterExpression="even = :t", Limit=2, ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert (numbers(rest), rest["ScannedCount"]) == (["4"], 2)
    count = table.query(**OF_BIG, Select="COUNT", Limit=2)
    assert ("Items" in count, count["Count"]) == (False, 2)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (
            {"KeyConditionExpression": "#o = :y"},
            "Invalid KeyConditionExpression: An expression attribute value used "
            "in expression is not defined; attribute value: :y",
        ),
        ({"KeyConditionExpression": "#o = :o OR #o = :o"}, "Invalid operator used in KeyConditionExpression: OR"),
        ({"KeyConditionExpression": "#o <> :o"}, "Invalid operator used in KeyConditionExpression: <>"),
        ({"KeyConditionExpression": "contains(#o, :o)"}, "Invalid operator used in KeyConditionExpression: contains"),
        ({"KeyConditionExpression": "#o > :o"}, "Query key condition not supported"),
        (
            {"ExpressionAttributeValues": {":o": {"N": "1"}}},
            f"{INVALID}Condition parameter type does not match schema type",
        ),
        (
            {"FilterExpression": "line = :o"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: line",
        ),
        (
            {"ProjectionExpression": "status"},
            "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: status",
        ),
        (
            {"ProjectionExpression": "#y"},
            "Invalid ProjectionExpression: An expression attribute name used in the "
            "document path is not defined; attribute name: #y",
        ),
        ({"ExclusiveStartKey": {"x": {"S": "y"}}}, f"The provided starting key is invalid: {MISMATCH}"),
        (
            {"ExpressionAttributeNames": {"#o": "order", "#u": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
    ],
)
def test_a_mistake_in_a_query_is_named_in_dynamodbs_words(table: Any, members: dict[str, Any], sentence: str) -> None:
    assert refusal(table.query, **{**OF_BIG, **members}) == ("ValidationException", sentence)


# --- tables -----------------------------------------------------------------------------------------------------------


def schema(**kinds: str) -> dict[str, Any]:
    return {
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in kinds.items()],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in kinds],
        "BillingMode": "PAY_PER_REQUEST",
    }


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"TableName": "ab"}, "TableName must be at least 3 characters long and at most 255 characters long"),
        ({"TableName": "a" * 256}, "TableName must be at least 3 characters long and at most 255 characters long"),
        (
            {"TableName": "my table"},
            f"{DETECTED}Value 'my table' at 'tableName' failed to satisfy constraint: Member "
            "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
        (schema(a="RANGE", b="HASH"), "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
        (schema(a="HASH", b="HASH"), "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
        (
            {"KeySchema": []},
            f"{DETECTED}Value '[]' at 'keySchema' failed to satisfy constraint: Member must have "
            "length greater than or equal to 1",
        ),
        (
            {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "BOOL"}]},
            f"{DETECTED}Value 'BOOL' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [B, N, S]",
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}},
            f"{DETECTED}Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member "
            "must have value greater than or equal to 1",
        ),
    ],
)
def test_a_table_that_cannot_be_is_refused(table: Any, members: dict[str, Any], sentence: str) -> None:
    members = {"TableName": "impossible", **schema(id="HASH"), **members}
    assert refusal(table.create_table, **members) == ("ValidationException", sentence)


def test_a_table_that_does_not_exist_is_not_found(table: Any) -> None:
    plain = ("ResourceNotFoundException", "Requested resource not found")
    named = ("ResourceNotFoundException", "Requested resource not found: Table: nothing not found")
    for call, members in (
        ("put_item", {"Item": A}),
        ("get_item", {"Key": A}),
        ("delete_item", {"Key": A}),
        ("update_item", {"Key": A}),
        ("scan", {}),
    ):
        assert refusal(getattr(table, call), TableName="nothing", **members) == plain
    for call in ("describe_table", "delete_table", "describe_time_to_live"):
        assert refusal(getattr(table, call), TableName="nothing") == named


def test_the_same_table_again_is_in_use(table: Any) -> None:
    said = refusal(table.create_table, TableName="orders", **schema(id="HASH"))
    assert said == ("ResourceInUseException", "Table already exists: orders")
