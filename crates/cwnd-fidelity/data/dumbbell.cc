// A dumbbell with TCP flows in ns-3, for the comparisons in docs/comparison.md and docs/speed.md.
//
//   g++ -O2 -std=c++17 dumbbell.cc -o dumbbell 
//       $(pkg-config --cflags --libs ns3-internet ns3-point-to-point ns3-applications)
//   ./dumbbell --algorithm=ns3::TcpCubic --duration=30
//
// The bottleneck has 100 Mbit/s and a drop-tail queue: of 100 packets, with a base RTT of 40 ms, if no option says otherwise.
// Access links have 1 Gbit/s and 1 ms; each flow has its own. It prints the goodput (payload that the receivers' applications
// have read, in Mbit/s), and the data packets that came to the bottleneck's queue.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string algorithm = "ns3::TcpCubic";
    double duration = 30;
    uint32_t flows = 1;
    uint32_t buffer = 100;
    uint32_t delay = 18;
    uint32_t segment = 1448;
    uint32_t segments_per_ack = 2;
    CommandLine cmd;
    cmd.AddValue("algorithm", "type of the congestion control", algorithm);
    cmd.AddValue("duration", "simulated time in seconds", duration);
    cmd.AddValue("flows", "number of flows", flows);
    cmd.AddValue("buffer", "the bottleneck's queue in packets", buffer);
    cmd.AddValue("delay", "the bottleneck's delay in milliseconds", delay);
    cmd.AddValue("segment", "payload of a packet in bytes", segment);
    cmd.AddValue("segments-per-ack", "segments that a receiver acknowledges together", segments_per_ack);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(algorithm));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(segments_per_ack));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    bottleneck.SetChannelAttribute("Delay", TimeValue(MilliSeconds(delay)));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, buffer)));
    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(flows);
    NodeContainer receivers;
    receivers.Create(flows);
    InternetStackHelper().Install(NodeContainer(routers, senders, receivers));
    NetDeviceContainer middle = bottleneck.Install(routers);
    std::vector<NetDeviceContainer> links{middle};
    for (uint32_t i = 0; i < flows; ++i)
    {
        links.push_back(access.Install(senders.Get(i), routers.Get(0)));
        links.push_back(access.Install(routers.Get(1), receivers.Get(i)));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    std::vector<Ipv4InterfaceContainer> assigned;
    for (auto& link : links)
    {
        assigned.push_back(addresses.Assign(link));
        addresses.NewNetwork();
        // The queue of the device is the only one: Assign() has put FqCoDel before it.
        TrafficControlHelper().Uninstall(link);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(receivers);
    sinks.Start(Seconds(0));
    for (uint32_t i = 0; i < flows; ++i)
    {
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(assigned[2 + 2 * i].GetAddress(1), 5000));
        source.SetAttribute("MaxBytes", UintegerValue(0));
        source.Install(senders.Get(i)).Start(Seconds(0));
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    uint64_t read = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        read += sinks.Get(i)->GetObject<PacketSink>()->GetTotalRx();
    }
    auto queue = middle.Get(0)->GetObject<PointToPointNetDevice>()->GetQueue();
    std::cout << read * 8 / duration / 1e6 << std::endl;
    std::cout << "packets=" << queue->GetTotalReceivedPackets() + queue->GetTotalDroppedPackets()
              << std::endl;
    Simulator::Destroy();
}
