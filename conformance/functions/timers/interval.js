export default async () => {
  let n = 0
  await new Promise((r) => {
    const i = setInterval(() => {
      if (++n === 3) {
        clearInterval(i)
        r()
      }
    }, 1)
  })
  return n
}
