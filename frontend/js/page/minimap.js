/**
 * The whole picture, small, with a frame around the part in view. It has its place beside the legend, where
 * the picture cannot be read whole.
 * A click or a drag moves the view there.
 */
import { bounds } from '../data/model.js';

const SIZE = Object.freeze({ width: 168, height: 72 });
const RIM = 8;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {(point: {x: number, y: number}) => void} moveTo the middle of the view, canvas coordinates
 */
export function createMinimap(canvas, moveTo) {
  let view = null;

  /**
   * @param {import('../data/model.js').Model} model
   * @param {import('../drawing/palette.js').Palette} palette
   * @param {{left: number, top: number, right: number, bottom: number}} seen the part on the canvas
   */
  function draw(model, palette, seen) {
    const around = bounds(model);
    const context = canvas.getContext('2d');
    if (!around || !context || canvas.hidden) return;
    view = fitted(around);
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [SIZE.width * ratio, SIZE.height * ratio];
    context.scale(ratio, ratio);
    for (const box of model.boxes.values()) {
      context.fillStyle = box.failed ? palette.failed : (palette[box.kind] ?? palette.operation);
      rectangle(context, 'fillRect', {
        left: box.x - box.width / 2,
        top: box.y - box.height / 2,
        right: box.x + box.width / 2,
        bottom: box.y + box.height / 2,
      });
    }
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    rectangle(context, 'strokeRect', cut(seen, grown(around)));
  }

  function rectangle(context, how, { left, top, right, bottom }) {
    const [x, y] = [view.x + left * view.scale, view.y + top * view.scale];
    context[how](
      x,
      y,
      Math.max(1.5, (right - left) * view.scale),
      Math.max(1.5, (bottom - top) * view.scale),
    );
  }

  function fitted(around) {
    const [wide, high] = [around.right - around.left, around.bottom - around.top];
    const scale = Math.min((SIZE.width - 2 * RIM) / wide, (SIZE.height - 2 * RIM) / high);
    const x = SIZE.width / 2 - (scale * (around.left + around.right)) / 2;
    const y = SIZE.height / 2 - (scale * (around.top + around.bottom)) / 2;
    return { scale, x, y };
  }

  function grown({ left, top, right, bottom }) {
    const by = (RIM - 1) / view.scale;
    return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
  }

  function point(event) {
    if (event.buttons !== 1 || !view) return;
    const { left, top } = canvas.getBoundingClientRect();
    moveTo({
      x: (event.clientX - left - view.x) / view.scale,
      y: (event.clientY - top - view.y) / view.scale,
    });
  }

  canvas.style.width = `${SIZE.width}px`;
  canvas.style.height = `${SIZE.height}px`;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    point(event);
  });
  canvas.addEventListener('pointermove', point);
  return { draw };
}

function cut(one, other) {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}
