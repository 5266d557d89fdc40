// The graph as a picture: drawn by WebGL, laid out a little in every frame, so that the page never waits for it.
import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import defaults from 'graphology-layout-forceatlas2/defaults'
import { assignLayoutChanges, graphToByteArrays } from 'graphology-layout-forceatlas2/helpers'
import iterate from 'graphology-layout-forceatlas2/iterate'
import Sigma from 'sigma'
import { titleOf, type Sketch } from '../../hooks/graph'

/** Colours as the canvas wants them. */
export interface Colours {
  kinds: string[]
  ink: string
  soft: string
  line: string
  ground: string
  accent: string
}

const FRAME_MS = 7 // of layout in each frame; the rest of its 16 is for drawing and for the page
const STEPS = 300 // of the layout, until it counts as settled
const STEPS_OF_MANY = 100
const REST_MS = 400 // between two drawings of many nodes while they are laid out: a drawing costs as much as several steps
const LONGEST_LABEL = 28 // characters
const GRAVITY = 0.2 // what nothing holds stays in sight
const MANY = 800 // nodes from which the layout goes by regions instead of pairs (Barnes and Hut, 1986)

export class GraphPicture {
  private readonly graph = new Graph({ multi: true, type: 'directed' })
  private readonly sigma: Sigma
  private frame = 0
  private selected: string | null = null
  private near = new Set<string>()
  private kinds = new Map<string, number>()

  constructor(
    private readonly container: HTMLElement,
    private colours: Colours,
    onSelect: (id: string | null) => void,
    private readonly isStill: boolean,
  ) {
    const fontFamily = getComputedStyle(document.body).fontFamily
    this.sigma = new Sigma(this.graph, container, {
      labelFont: fontFamily,
      edgeLabelFont: fontFamily,
      labelSize: 13,
      edgeLabelSize: 11,
      labelDensity: 0.7,
      labelGridCellSize: 110,
      labelRenderedSizeThreshold: 5,
      stagePadding: 48,
      minCameraRatio: 0.03,
      maxCameraRatio: 3,
      zIndex: true,
      renderEdgeLabels: true,
      defaultDrawNodeHover: (context, data, settings) => this.drawHover(context, data, settings.labelSize),
      nodeReducer: (node, data) => this.nodeAsShown(node, data),
      edgeReducer: (edge, data) => this.edgeAsShown(edge, data),
    })
    for (const canvas of Object.values(this.sigma.getCanvases())) canvas.ariaHidden = 'true' // the container has the name
    this.sigma.on('clickNode', ({ node }) => onSelect(node))
    this.sigma.on('clickStage', () => onSelect(null))
    this.recolour(colours)
  }

  /** Draw this piece of the graph; what was drawn before keeps its place. */
  show(sketch: Sketch, kinds: Map<string, number>): void {
    this.kinds = kinds
    const wanted = new Set(sketch.nodes.map(({ id }) => id))
    const links = new Set(sketch.links.map(({ id }) => id))
    const isNew = !this.graph.someNode((id) => wanted.has(id))
    this.graph.forEachEdge((id) => !links.has(id) && this.graph.dropEdge(id))
    this.graph.forEachNode((id) => !wanted.has(id) && this.graph.dropNode(id))
    const near = neighboursIn(sketch)
    sketch.nodes.forEach((node, index) => {
      const attributes = { label: titleOf(node, LONGEST_LABEL), kind: this.kindOf(node.labels) }
      if (this.graph.hasNode(node.id)) this.graph.mergeNodeAttributes(node.id, attributes)
      else this.graph.addNode(node.id, { ...attributes, ...this.placeOf(near.get(node.id) ?? [], index) })
    })
    for (const link of sketch.links) {
      if (!this.graph.hasEdge(link.id)) this.graph.addEdgeWithKey(link.id, link.start, link.end, { label: link.type })
    }
    this.graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, size: this.sizeOf(id) }))
    this.sigma.setSetting('hideEdgesOnMove', this.graph.order > MANY)
    this.container.dataset.nodes = String(this.graph.order)
    this.container.dataset.links = String(this.graph.size)
    this.layOut()
    if (isNew) void this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 })
  }

  /** Set one node off from the others, with its neighbours; null sets none off. */
  select(id: string | null): void {
    this.selected = id !== null && this.graph.hasNode(id) ? id : null
    this.near = new Set(this.selected ? this.graph.neighbors(this.selected) : [])
    this.sigma.refresh({ skipIndexation: true })
  }

  /** Draw in other colours, as the page is light or dark. */
  recolour(colours: Colours): void {
    this.colours = colours
    this.sigma.setSetting('labelColor', { color: colours.ink })
    this.sigma.setSetting('edgeLabelColor', { color: colours.soft })
    this.sigma.setSetting('defaultEdgeColor', colours.line)
    this.sigma.refresh({ skipIndexation: true })
  }

  /** Come closer (above 1) or go back (below 1). */
  zoom(by: number): void {
    const camera = this.sigma.getCamera()
    void camera.animate({ ratio: camera.ratio / by }, { duration: this.isStill ? 0 : 200 })
  }

  /** Show everything. */
  fit(): void {
    void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: this.isStill ? 0 : 300 })
  }

  /** End it. */
  close(): void {
    cancelAnimationFrame(this.frame)
    this.sigma.kill()
  }

  /** Lay out a little in each frame; where motion is unwelcome, show the end alone. */
  private layOut(): void {
    cancelAnimationFrame(this.frame)
    const { order } = this.graph
    this.container.dataset.settled = 'false'
    if (order < 2) return this.settle()
    const isLarge = order > MANY
    const settings = {
      ...defaults,
      ...forceAtlas2.inferSettings(order),
      gravity: GRAVITY,
      barnesHutOptimize: isLarge,
      barnesHutTheta: 0.9,
    }
    const { nodes, edges } = graphToByteArrays(this.graph, () => 1)
    let left = isLarge ? STEPS_OF_MANY : STEPS
    let drawnAt = performance.now()
    const step = (): void => {
      const until = performance.now() + FRAME_MS
      do iterate(settings, nodes, edges)
      while (--left > 0 && performance.now() < until)
      const isDue = !this.isStill && (!isLarge || performance.now() - drawnAt > REST_MS)
      if (isDue || left <= 0) {
        assignLayoutChanges(this.graph, nodes, null)
        drawnAt = performance.now()
      }
      if (left <= 0) this.settle()
      else this.frame = requestAnimationFrame(step)
    }
    this.frame = requestAnimationFrame(step)
  }

  private settle(): void {
    this.container.dataset.settled = 'true'
  }

  /** Beside a neighbour that is drawn already; else on a spiral, the same each time. */
  private placeOf(near: string[], index: number): { x: number; y: number } {
    const angle = index * 2.399963 // the golden angle
    const known = near.find((id) => this.graph.hasNode(id))
    if (known === undefined)
      return { x: Math.sqrt(index + 1) * Math.cos(angle), y: Math.sqrt(index + 1) * Math.sin(angle) }
    const { x, y } = this.graph.getNodeAttributes(known) as { x: number; y: number }
    return { x: x + Math.cos(angle), y: y + Math.sin(angle) }
  }

  /** By how much stands around it, and how much room there is. */
  private sizeOf(id: string): number {
    const room = Math.min(this.container.clientWidth, this.container.clientHeight)
    const scale = Math.min(1, Math.max(0.6, room / 640))
    return scale * Math.min(3.5 + 1.5 * Math.sqrt(this.graph.degree(id)), 16)
  }

  private kindOf(labels: string[]): number {
    return Math.min(...labels.map((label) => this.kinds.get(label) ?? KIND_OF_NONE), KIND_OF_NONE)
  }

  private nodeAsShown(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const color = this.colours.kinds[data.kind as number]
    if (this.selected === null) return { ...data, color }
    if (id === this.selected) return { ...data, color, highlighted: true, forceLabel: true, zIndex: 2 }
    if (this.near.has(id)) return { ...data, color, forceLabel: this.near.size <= 30, zIndex: 1 }
    return { ...data, color: this.colours.line, label: null, zIndex: 0 }
  }

  private edgeAsShown(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const isOfSelected = this.selected !== null && this.graph.hasExtremity(id, this.selected)
    if (isOfSelected)
      return { ...data, color: this.colours.accent, size: 1.5, forceLabel: this.near.size <= 12, zIndex: 1 }
    return { ...data, label: null, color: this.colours.line, hidden: this.selected !== null && this.graph.size > MANY }
  }

  private drawHover(
    context: CanvasRenderingContext2D,
    { x, y, size, label, color }: { x: number; y: number; size: number; label: string | null; color: string },
    labelSize: number,
  ): void {
    context.font = `600 ${labelSize}px ${getComputedStyle(document.body).fontFamily}`
    context.beginPath()
    context.arc(x, y, size + 3, 0, 2 * Math.PI)
    context.fillStyle = color
    context.fill()
    if (!label) return
    const width = context.measureText(label).width + 14
    context.beginPath()
    context.roundRect(x + size + 5, y - labelSize * 0.85, width, labelSize * 1.7, 6)
    context.fillStyle = this.colours.ground
    context.fill()
    context.strokeStyle = this.colours.line
    context.stroke()
    context.fillStyle = this.colours.ink
    context.fillText(label, x + size + 12, y + labelSize * 0.36)
  }
}

const KIND_OF_NONE = 7

function neighboursIn({ links }: Sketch): Map<string, string[]> {
  const near = new Map<string, string[]>()
  const add = (one: string, other: string) => near.set(one, [...(near.get(one) ?? []).slice(0, 8), other])
  for (const { start, end } of links) {
    add(start, end)
    add(end, start)
  }
  return near
}
