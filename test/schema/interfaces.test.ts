import test from 'ava';
import { constantValues, fieldTexts, idl, msg, partOf, SEP } from '../helpers/definitions.js';

const ADD = 'int64 a\nint64 b\n---\nint64 sum\n';

test('a service text defines its request and its response', (t) => {
  t.deepEqual(fieldTexts(msg(ADD, 'p/srv/Add_Request')), ['int64 a', 'int64 b']);
  t.deepEqual(fieldTexts(msg(ADD, 'p/srv/Add_Response')), ['int64 sum']);
});

test('a service event holds the info and at most one request and one response', (t) => {
  const event = msg(ADD, 'p/srv/Add_Event');
  t.is(event.name, 'p/srv/Add_Event');
  t.deepEqual(fieldTexts(event), [
    'service_msgs/msg/ServiceEventInfo info',
    'p/srv/Add_Request[<=1] request',
    'p/srv/Add_Response[<=1] response',
  ]);
  t.deepEqual(fieldTexts(partOf(event, 'request')), ['int64 a', 'int64 b']);
  t.deepEqual(fieldTexts(partOf(event, 'response')), ['int64 sum']);
  const info = partOf(event, 'info');
  t.deepEqual(fieldTexts(info), [
    'uint8 event_type',
    'builtin_interfaces/msg/Time stamp',
    'char[16] client_gid',
    'int64 sequence_number',
  ]);
  t.deepEqual(constantValues(info), { REQUEST_SENT: 0, REQUEST_RECEIVED: 1, RESPONSE_SENT: 2, RESPONSE_RECEIVED: 3 });
});

test('a service text may begin with a separator and a header, and bring its dependencies', (t) => {
  const data = `${SEP}\r\nSRV: p/srv/Look\r\nT[] what\r\n--- \r\nq/msg/U u # and\r\n${SEP}\r\nMSG: p/msg/T\r\nuint8 x\r\n${SEP}\r\nMSG: q/msg/U\r\nuint8 y\r\n`;
  const event = msg(data, 'p/srv/Look_Event');
  t.deepEqual(fieldTexts(partOf(event, 'request')), ['p/msg/T[] what']);
  t.deepEqual(fieldTexts(partOf(event, 'response')), ['q/msg/U u']);
  t.deepEqual(fieldTexts(msg(data, 'p/srv/Look_Response')), ['q/msg/U u']);
});

test('a dependency that the event brings itself is taken', (t) => {
  const info = 'uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number';
  const event = msg(`${ADD}${SEP}\nMSG: service_msgs/msg/ServiceEventInfo\n${info}`, 'p/srv/Add_Event');
  t.deepEqual(constantValues(partOf(event, 'info')), {});
});

test('the parts of a service may be empty', (t) => {
  const event = msg('---\n', 'std_srvs/srv/Empty_Event');
  t.deepEqual(partOf(event, 'request').fields, []);
  t.deepEqual(partOf(event, 'response').fields, []);
  t.deepEqual(fieldTexts(msg('---\nbool success', 'p/srv/T_Request')), []);
});

test('a service whose own name ends like a part of one loses one ending only', (t) => {
  t.deepEqual(fieldTexts(msg(ADD, 'p/srv/Get_Event_Event'))[1], 'p/srv/Get_Event_Request[<=1] request');
});

test('a name of two parts finds the messages of a service', (t) => {
  t.is(msg(ADD, 'p/Add_Event').name, 'p/srv/Add_Event');
  t.is(msg(ADD, 'p::srv::dds_::Add_Request_').name, 'p/srv/Add_Request');
});

test('a service is no message itself', (t) => {
  const error = t.throws(() => msg(ADD, 'p/srv/Add'), { code: 'SCHEMA_ROOT_NOT_FOUND' });
  t.regex(error.message, /p\/srv\/Add_Request, p\/srv\/Add_Response/);
});

test('a request or an event may also be an ordinary text', (t) => {
  t.deepEqual(fieldTexts(msg('string[] names\n', 'rcl_interfaces/srv/GetParameters_Request')), ['string[] names']);
  const data = `service_msgs/ServiceEventInfo info\nAdd_Request[<=1] request\n${SEP}\nMSG: p/srv/Add_Request\nint64 a`;
  t.deepEqual(fieldTexts(msg(data, 'p/srv/Add_Event')), [
    'service_msgs/msg/ServiceEventInfo info',
    'p/srv/Add_Request[<=1] request',
  ]);
});

test('an event is made from sections of request and response, too', (t) => {
  const data = `${SEP}\nMSG: p/srv/Add_Request\nint64 a\n${SEP}\nMSG: p/srv/Add_Response\nint64 sum`;
  t.deepEqual(fieldTexts(partOf(msg(data, 'p/srv/Add_Event'), 'response')), ['int64 sum']);
});

const FIBONACCI = 'int32 order\n---\nint32[] sequence\n---\nint32[] partial_sequence\n';

test('an action text defines goal, result and feedback, and all messages that go with them', (t) => {
  const expected = new Map([
    ['Goal', ['int32 order']],
    ['Result', ['int32[] sequence']],
    ['Feedback', ['int32[] partial_sequence']],
    ['SendGoal_Request', ['unique_identifier_msgs/msg/UUID goal_id', 'p/action/Fibonacci_Goal goal']],
    ['SendGoal_Response', ['bool accepted', 'builtin_interfaces/msg/Time stamp']],
    [
      'SendGoal_Event',
      [
        'service_msgs/msg/ServiceEventInfo info',
        'p/action/Fibonacci_SendGoal_Request[<=1] request',
        'p/action/Fibonacci_SendGoal_Response[<=1] response',
      ],
    ],
    ['GetResult_Request', ['unique_identifier_msgs/msg/UUID goal_id']],
    ['GetResult_Response', ['int8 status', 'p/action/Fibonacci_Result result']],
    [
      'GetResult_Event',
      [
        'service_msgs/msg/ServiceEventInfo info',
        'p/action/Fibonacci_GetResult_Request[<=1] request',
        'p/action/Fibonacci_GetResult_Response[<=1] response',
      ],
    ],
    ['FeedbackMessage', ['unique_identifier_msgs/msg/UUID goal_id', 'p/action/Fibonacci_Feedback feedback']],
  ]);
  for (const [suffix, fields] of expected) {
    t.deepEqual(fieldTexts(msg(FIBONACCI, `p/action/Fibonacci_${suffix}`)), fields, suffix);
  }
  const feedback = msg(FIBONACCI, 'p/action/Fibonacci_FeedbackMessage');
  t.deepEqual(fieldTexts(partOf(feedback, 'goal_id')), ['uint8[16] uuid']);
  t.deepEqual(fieldTexts(partOf(feedback, 'feedback')), ['int32[] partial_sequence']);
});

test('an action text may begin with its header', (t) => {
  const data = `${SEP}\nACTION: p/action/Fibonacci\n${FIBONACCI}${SEP}\nMSG: unique_identifier_msgs/msg/UUID\nuint8[16] uuid\n`;
  t.deepEqual(fieldTexts(msg(data, 'p/action/Fibonacci_GetResult_Response')), [
    'int8 status',
    'p/action/Fibonacci_Result result',
  ]);
});

test('a text with the wrong number of parts is an error at the line', (t) => {
  const error = t.throws<Error & { line?: number }>(() => msg('int8 a\n---\n---\n---\n', 'p/srv/Add_Event'), {
    code: 'SCHEMA_SYNTAX',
  });
  t.is(error.line, 4);
  t.throws(() => msg('int8 a\n---\nint8 b', 'p/action/F_Goal'), { code: 'SCHEMA_SYNTAX' });
  t.throws(() => msg(`${SEP}\nSRV: p/srv/Add\nint8 a`, 'p/srv/Add_Request'), { code: 'SCHEMA_SYNTAX' });
});

test('services and actions of IDL have the same messages', (t) => {
  const service = `module p { module srv {
    struct Add_Request { int64 a; int64 b; };
    struct Add_Response { int64 sum; };
  }; };`;
  t.deepEqual(fieldTexts(idl(service, 'p/srv/Add_Event')), [
    'service_msgs/msg/ServiceEventInfo info',
    'p/srv/Add_Request[<=1] request',
    'p/srv/Add_Response[<=1] response',
  ]);
  const action = `module p { module action {
    struct F_Goal { int32 order; };
    struct F_Result { sequence<int32> sequence; };
    struct F_Feedback { uint8 structure_needs_at_least_one_member; };
  }; };`;
  t.deepEqual(fieldTexts(idl(action, 'p/action/F_FeedbackMessage')), [
    'unique_identifier_msgs/msg/UUID goal_id',
    'p/action/F_Feedback feedback',
  ]);
});
