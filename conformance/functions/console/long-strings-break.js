export default async () => {
  console.log({
    text: 'line one is long enough to break\nline two is long enough to break\nline three as well',
  })
}
