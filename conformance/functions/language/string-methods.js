export default async () => {
  return [
    'abc'.at(-1),
    'a-b'.split('-'),
    'x'.padStart(3, 'ab'),
    ' a '.trim(),
    'İ'.toLowerCase().length,
    'ß'.toUpperCase(),
    'e\u0301'.normalize('NFC').length,
  ]
}
