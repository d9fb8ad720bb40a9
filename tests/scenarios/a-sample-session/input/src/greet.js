export function greet(name) {
  console.log("greeting", name);
  return `Hello, ${name}!`;
}
