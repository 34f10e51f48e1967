import { expect, test } from 'vitest'

import { downloadNameOf } from './download-name.ts'

test.each([
  ['a plain one', 'report.pdf', 'report.pdf'],
  ['letters of other scripts', 'Größe 合同.pdf', 'Größe 合同.pdf'],
  ['a path up', '../../etc/passwd', 'passwd'],
  ['a path of Windows', String.raw`C:\Windows\system32\cmd.exe`, 'cmd.exe'],
  ['nothing but a path', '../..', 'attachment'],
  ['nothing', '', 'attachment'],
  ['a hidden file', '.htaccess', 'htaccess'],
  ['line breaks', 'a\r\nSet-Cookie: b.txt', 'aSet-Cookie_ b.txt'],
  ['a NUL before the ending', 'a.exe\0.txt', 'a.exe.txt'],
  ['a turned ending', 'invoice\u202Etxt.exe', 'invoicetxt.exe'],
  ['dots and spaces at the end', 'a.exe . .', 'a.exe'],
  ['quotes', 'a"; x="b.txt', 'a_; x=_b.txt'],
  ['half a surrogate pair', 'a\uD800.txt', 'a\uFFFD.txt'],
  ['a stream of Windows', 'a.txt:evil.exe', 'a.txt_evil.exe'],
])('a name with %s is safe to save', (_what, given, saved) => {
  expect(downloadNameOf(given)).toBe(saved)
})

test('a long name keeps its ending', () => {
  const name = downloadNameOf(`${'a'.repeat(500)}.pdf`)
  expect(name).toHaveLength(150)
  expect(name.endsWith('aaa.pdf')).toBe(true)
})
