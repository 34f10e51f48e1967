export default async () => {
  return [
    /a.b/s.test('a\nb'),
    /\p{L}/u.test('é'),
    [.../(?<=\$)\d/g[Symbol.matchAll]('$1 $2')].length,
    /[\p{L}--[a-z]]/v.test('A'),
  ]
}
