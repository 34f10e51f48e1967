export default async () => {
  console.log([1][Symbol.iterator](), 'a'[Symbol.iterator](), (function* () {})())
}
