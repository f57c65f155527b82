/** Every case in the order in which it is told: first the world stands still, then it moves. */
import type { Case } from "./cases.js";
import { accounts } from "./cases/accounts.js";
import { chains, predeploys } from "./cases/chains.js";
import { costs } from "./cases/costs.js";
import { failures } from "./cases/failures.js";
import { movements } from "./cases/movements.js";
import { nodes } from "./cases/nodes.js";
import { rights } from "./cases/rights.js";
import { rounds } from "./cases/rounds.js";
import { stories } from "./cases/stories.js";

export const casesOn = (node: string): ReadonlyArray<Case> =>
  [movements, rights, failures, costs, accounts, nodes, chains, stories, predeploys, rounds]
    .flat()
    .filter(({ on = ["anvil", "geth"] }) => on.includes(node));
