export default async () => {
  console.log(new Proxy({ a: 1 }, {}), new Proxy([1], {}), new Proxy(function f() {}, {}))
}
