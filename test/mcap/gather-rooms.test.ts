import test from 'ava';
import { GatherRooms } from '../../lib/mcap/gather-rooms.js';

test('a room is lent to one at a time, and again when it has been released', (t) => {
  const rooms = new GatherRooms(2);
  const first = rooms.take(100_000);
  const second = rooms.take(100_000);
  if (first === undefined || second === undefined) throw new Error('no room');
  t.true(first.bytes.length >= 100_000);
  t.not(first.bytes, second.bytes);
  rooms.release(first.bytes);
  rooms.release(first.bytes); // of no effect
  t.is(rooms.take(90_000), first);
  t.not(rooms.take(90_000), first);
});

test('a room that is too small is not given, and what is no room is not taken', (t) => {
  const rooms = new GatherRooms(2);
  const small = rooms.take(1000);
  if (small === undefined) throw new Error('no room');
  rooms.release(small.bytes);
  rooms.release(Buffer.alloc(1_000_000));
  const large = rooms.take(900_000);
  t.not(large, small);
  t.true((large?.bytes.length ?? 0) >= 900_000);
  t.is(rooms.take(5 * 2 ** 20), undefined);
});

test('a room that is away with another thread is not given until it has come back', (t) => {
  const rooms = new GatherRooms(2);
  const room = rooms.take(100_000);
  if (room === undefined) throw new Error('no room');
  t.true(rooms.has(room.bytes.buffer));
  t.false(rooms.has(new ArrayBuffer(8)));
  room.bytes[0] = 7;
  const moved = structuredClone(room.bytes.buffer as ArrayBuffer, { transfer: [room.bytes.buffer as ArrayBuffer] });
  rooms.release(room.bytes); // of no effect: there is nothing in it
  const other = rooms.take(100_000);
  t.not(other?.bytes.buffer, moved);
  rooms.restore(moved);
  const again = rooms.take(100_000);
  t.is(again?.bytes.buffer, moved);
  t.is(again?.bytes[0], 7);
});

test('the largest are kept', (t) => {
  const rooms = new GatherRooms(1);
  const [a, b] = [rooms.take(1000), rooms.take(500_000)];
  if (a === undefined || b === undefined) throw new Error('no room');
  rooms.release(a.bytes);
  rooms.release(b.bytes);
  t.is(rooms.take(1000), b);
  t.not(rooms.take(1000), a);
});
