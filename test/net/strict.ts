/** A node that knows the seven methods of the node interface and no batches: neither its chain nor its head is named. */
import { sevenMethods, startProxy } from "../harness/proxy.js";
import { startAnvilScene, type Scene } from "../preflight/scene.js";

/** The world is built on the node behind it; what is asked goes through. */
export const startStrictScene = async (): Promise<Scene> => {
  const scene = await startAnvilScene();
  const { url, stop } = await startProxy({ target: scene.url, only: sevenMethods, refuseBatches: true });
  return { ...scene, url, stop: () => stop().then(scene.stop) };
};
