export default async () => {
  console.log(
    new URL('http://u:p@a.b:81/p?q=1#h'),
    new URLSearchParams('a=1&b=2'),
    new URLSearchParams(),
  )
}
