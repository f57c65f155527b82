/** hardhat's node as it comes. */
export default {};
