export default async () => {
  return ((s, ...v) => [s.raw, v])`a${1}\n${2}`
}
