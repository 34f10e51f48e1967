export default async () => {
  const out = []
  const w = new WritableStream({
    write(c) {
      out.push(c)
    },
    close() {
      out.push('end')
    },
  }).getWriter()
  await w.write(1)
  await w.close()
  return out
}
