export default async () => {
  console.log("it's", ["it's", 'say "x"', '"\'', 'a\nb\t\\ \u0001 \u007f \u009f', '😀'])
  console.log(['x'.repeat(100)])
  console.log({ a: 'x'.repeat(200) })
}
