import { afterAll, beforeAll, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

/** What each event says of a reading, in the order in which they come. */
const HEARD = `const fired = []; const reader = new FileReader();
  for (const type of ['loadstart', 'progress', 'load', 'abort', 'error', 'loadend'])
    reader.addEventListener(type, (event) => fired.push([type, reader.readyState, event.lengthComputable, event.loaded, event.total]));
  const over = () => new Promise((resolve) => { reader.onloadend = resolve });`

let guest: Guest
beforeAll(async () => {
  guest = await Guest.open()
})
afterAll(() => guest[Symbol.dispose]())

const readAs = (method: string, blob: string, more = '') =>
  guest.run(`const reader = new FileReader(); const over = new Promise((resolve) => { reader.onload = resolve })
    reader.${method}(${blob}${more}); await over
    const { result } = reader
    return result instanceof ArrayBuffer ? [...new Uint8Array(result)] : result`)

test.each([
  ['readAsText', `new Blob(['é€'])`, '', 'é€'],
  ['readAsText', 'new Blob([new Uint8Array([0xe9])])', `, 'latin1'`, 'é'],
  [
    'readAsText',
    `new Blob([new Uint8Array([0xe9])], { type: 'text/plain;charset=latin1' })`,
    '',
    'é',
  ],
  ['readAsText', 'new Blob([new Uint8Array([0xfe, 0xff, 0, 0x61])])', `, 'utf-8'`, 'a'],
  ['readAsText', `new Blob(['a'])`, `, 'no such'`, 'a'],
  ['readAsBinaryString', 'new Blob([new Uint8Array([0xe9, 1])])', '', 'é\x01'],
  ['readAsArrayBuffer', 'new Blob([new Uint8Array([1, 2])])', '', [1, 2]],
  ['readAsDataURL', `new Blob(['Hi'], { type: 'text/plain' })`, '', 'data:text/plain;base64,SGk='],
  ['readAsDataURL', `new Blob(['Hi'])`, '', 'data:application/octet-stream;base64,SGk='],
])('%s of %s%s', async (method, blob, more, expected) => {
  expect(await readAs(method, blob, more)).toEqual(expected)
})

test('tells how far it has come', async () => {
  const heard = await guest.run(
    `${HEARD} reader.readAsText(new Blob(['abc'])); const before = reader.readyState; await over(); return [before, fired]`,
  )
  expect(heard).toEqual([
    1,
    [
      ['loadstart', 1, true, 0, 3],
      ['progress', 1, true, 3, 3],
      ['load', 2, true, 3, 3],
      ['loadend', 2, true, 3, 3],
    ],
  ])
})

test('fires no progress event for an empty blob', async () => {
  expect(
    await guest.run(
      `${HEARD} reader.readAsText(new Blob([])); await over(); return [reader.result, fired.map(([type]) => type)]`,
    ),
  ).toEqual(['', ['loadstart', 'load', 'loadend']])
})

test('aborts its read, and may start another one in the listener', async () => {
  const heard = await guest.run(`${HEARD}
    reader.onabort = () => { if (fired.length === 1) reader.readAsText(new Blob(['again'])) }
    reader.readAsText(new Blob(['once'])); const ended = over(); reader.abort(); await ended
    return [reader.result, fired.map(([type]) => type)]`)
  expect(heard).toEqual(['again', ['abort', 'loadstart', 'progress', 'load', 'loadend']])
})

test('reads one blob at a time, and blobs alone', async () => {
  const said = await guest.run(`const reader = new FileReader(); const names = []
    const tried = (work) => { try { work(); names.push('ok') } catch (error) { names.push(error.name) } }
    tried(() => reader.readAsText('text')); tried(() => reader.readAsText()); tried(() => reader.abort())
    tried(() => reader.readAsText(new Blob(['a']))); tried(() => reader.readAsText(new Blob(['b'])))
    tried(() => FileReader.prototype.readAsText.call({}, new Blob(['a'])))
    await new Promise((resolve) => { reader.onloadend = resolve })
    return [names, reader.result]`)
  expect(said).toEqual([
    ['TypeError', 'TypeError', 'ok', 'ok', 'InvalidStateError', 'TypeError'],
    'a',
  ])
})
