/** tevm's node on the port that is named. */
import { createMemoryClient } from "tevm";
import { createServer } from "tevm/server";

const port = Number(process.argv[2]);
const client = createMemoryClient({ miningConfig: { type: "auto" } });
createServer(client).listen(port, "127.0.0.1", () => console.log(`Listening on 127.0.0.1:${port}`));
