export default async () => {
  console.log([Symbol('a b'), Symbol(''), Symbol(), Symbol('x"y')])
  console.log(Symbol('top level'))
}
