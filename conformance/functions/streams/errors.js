export default async () => {
  const s = new ReadableStream({
    start(c) {
      c.error(new Error('bad'))
    },
  })
  return s
    .getReader()
    .read()
    .catch((e) => e.message)
}
