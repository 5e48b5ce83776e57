import test from 'ava';
import { normalizeTypeName, packageOf } from '../../lib/schema/names.js';

test('all spellings of a type name become one', (t) => {
  const spellings: [string, string][] = [
    ['std_msgs/msg/Header', 'std_msgs/msg/Header'],
    ['std_msgs/Header', 'std_msgs/msg/Header'],
    ['std_msgs::msg::Header', 'std_msgs/msg/Header'],
    ['std_msgs::msg::dds_::Header_', 'std_msgs/msg/Header'],
    ['::std_msgs::msg::Header', 'std_msgs/msg/Header'],
    ['/std_msgs/msg/Header/', 'std_msgs/msg/Header'],
    [' std_msgs.msg.Header ', 'std_msgs/msg/Header'],
    ['fastdds/std_msgs/msg/Header', 'std_msgs/msg/Header'],
    ['example::srv::dds_::Add_Request_', 'example/srv/Add_Request'],
    ['example/action/Fibonacci_Goal', 'example/action/Fibonacci_Goal'],
    ['p/msg/a_', 'p/msg/a_'],
    ['fastdds/msg/Type', 'fastdds/msg/Type'],
    ['Bare', 'Bare'],
    ['a::b::c::D', 'a/b/c/D'],
    ['', ''],
    ['p::msg::dds_::_', 'p/msg/_'],
  ];
  for (const [spelling, expected] of spellings) {
    t.is(normalizeTypeName(spelling), expected);
    t.is(normalizeTypeName(expected), expected);
  }
});

test('the package is the first part, and a bare name has none', (t) => {
  t.is(packageOf('std_msgs/msg/Header'), 'std_msgs');
  t.is(packageOf('Bare'), '');
});
